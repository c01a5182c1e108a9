# How a module is declared: one static library per folder of src/, headers in include/mailonce/<module>/.

include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)

add_library(mailonce_flags INTERFACE)
target_link_libraries(mailonce_flags INTERFACE Threads::Threads)
target_include_directories(mailonce_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(mailonce_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(mailonce_flags INTERFACE -Wno-implicit-int-float-conversion)
else()
  # g++ 12 takes the frame allocator of Asio's awaitable for two different ones.
  target_compile_options(mailonce_flags INTERFACE -Wno-mismatched-new-delete)
endif()
# Asio: compiled once (src/net/asio.cpp), and only what Boost 1.81 does not deprecate.
target_compile_definitions(mailonce_flags INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_BOOST_REGEX _FILE_OFFSET_BITS=64 SPDLOG_FMT_EXTERNAL SPDLOG_SHARED_LIB SPDLOG_COMPILED_LIB)
if(MAILONCE_SANITIZE)
  target_compile_options(mailonce_flags INTERFACE -fsanitize=${MAILONCE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(mailonce_flags INTERFACE -fsanitize=${MAILONCE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(mailonce_flags INTERFACE -fno-sanitize=function)
  endif()
endif()
if(MAILONCE_FUZZ)
  # All of it: a precompiled header is valid for code that is steered, or for code that is not.
  target_compile_options(mailonce_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Asio's headers are compiled once for all targets that use them: a session's file takes 6 s instead of 14.
add_library(mailonce_pch STATIC ${CMAKE_CURRENT_LIST_DIR}/asio_pch.cpp)
target_link_libraries(mailonce_pch PRIVATE mailonce_flags)
target_precompile_headers(mailonce_pch PRIVATE ${CMAKE_CURRENT_LIST_DIR}/asio_pch.h)
function(mailonce_precompiled target wanted)
  if(wanted AND MAILONCE_PCH)
    target_precompile_headers(${target} REUSE_FROM mailonce_pch)
    # Programs would be -fPIE: the header is valid for the same option only.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# mailonce_module(NAME [ASIO] [DEPS lib...]): the sources of src/NAME as the library mailonce_NAME.
function(mailonce_module name)
  cmake_parse_arguments(ARG "ASIO" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(mailonce_${name} STATIC ${sources})
  target_link_libraries(mailonce_${name} PUBLIC mailonce_flags ${ARG_DEPS})
  mailonce_precompiled(mailonce_${name} ${ARG_ASIO})
endfunction()

# mailonce_test(NAME [ASIO] [DEPS lib...] [LABELS label...]): every .cpp of the calling folder as one GoogleTest program.
function(mailonce_test name)
  cmake_parse_arguments(ARG "ASIO" "" "DEPS;LABELS;ALONE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  mailonce_precompiled(${name} ${ARG_ASIO})
  set(others "*")
  if(ARG_ALONE)
    list(JOIN ARG_ALONE ":" alone)
    set(others "-${alone}")
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." TEST_FILTER "${others}" DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 120 LABELS "${ARG_LABELS}")
  foreach(filter IN LISTS ARG_ALONE)
    string(REGEX REPLACE ".*:(.*)[.][*]$" "\\1" suite "${filter}")
    add_test(NAME ${name}.${suite} COMMAND ${name} "--gtest_filter=${filter}")
    set_tests_properties(${name}.${suite} PROPERTIES TIMEOUT 300 LABELS "${ARG_LABELS}")
  endforeach()
endfunction()
