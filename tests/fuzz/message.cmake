foreach(target canonical_form rebuilt_mail)
  mailonce_fuzz(${target} DEPS mailonce_message)
endforeach()
