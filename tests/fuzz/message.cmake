mailonce_fuzz(canonical_form DEPS mailonce_message)
mailonce_fuzz(document DEPS mailonce_message)
