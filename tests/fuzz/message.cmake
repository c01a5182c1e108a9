foreach(target canonical_form rebuilt_mail document message_fields message_body)
  mailonce_fuzz(${target} DEPS mailonce_message)
endforeach()
