mailonce_fuzz(proxy_header DEPS mailonce_net)
