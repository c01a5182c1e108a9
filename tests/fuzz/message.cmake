foreach(target canonical_form rebuilt_mail document)
  mailonce_fuzz(${target} DEPS mailonce_message)
endforeach()
