foreach(target smtp_reply smtp_command smtp_data smtp_session)
  mailonce_fuzz(${target} DEPS mailonce_smtp)
endforeach()
