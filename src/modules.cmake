# How a module is declared: one static library per folder of src/, headers in include/mailonce/<module>/.

include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)

add_library(mailonce_flags INTERFACE)
target_include_directories(mailonce_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(mailonce_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(mailonce_flags INTERFACE -Wno-sign-conversion -Wno-implicit-int-float-conversion)
endif()
# Asio: compiled once (src/net/asio.cpp), and only what Boost 1.81 does not deprecate.
target_compile_definitions(mailonce_flags INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_BOOST_REGEX SPDLOG_FMT_EXTERNAL SPDLOG_SHARED_LIB SPDLOG_COMPILED_LIB)
if(MAILONCE_SANITIZE)
  target_compile_options(mailonce_flags INTERFACE -fsanitize=${MAILONCE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(mailonce_flags INTERFACE -fsanitize=${MAILONCE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(mailonce_flags INTERFACE -fno-sanitize=function)
  endif()
endif()

# mailonce_module(NAME [ASIO] [DEPS lib...]): the sources of src/NAME as the library mailonce_NAME.
function(mailonce_module name)
  cmake_parse_arguments(ARG "ASIO" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(mailonce_${name} STATIC ${sources})
  target_link_libraries(mailonce_${name} PUBLIC mailonce_flags ${ARG_DEPS})
  if(ARG_ASIO AND MAILONCE_PCH)
    target_precompile_headers(mailonce_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/asio_pch.h)
  endif()
endfunction()

# mailonce_test(NAME [ASIO] [DEPS lib...] [LABELS label...]): every .cpp of the calling folder as one GoogleTest program.
function(mailonce_test name)
  cmake_parse_arguments(ARG "ASIO" "" "DEPS;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  if(ARG_ASIO AND MAILONCE_PCH)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/asio_pch.h)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120 LABELS "${ARG_LABELS}")
endfunction()
