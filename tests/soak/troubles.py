"""What goes wrong with the provider, for a while each; tests/support/fault.h has the language. An entry adds one."""

import contextlib


def armed(*faults):
    @contextlib.contextmanager
    def trouble(upstream):
        for fault in faults:
            upstream.fault("times=every " + fault)
        yield
        upstream.clear_faults()
        upstream.go()
    return trouble


@contextlib.contextmanager
def gone(upstream):
    """As it is while it starts anew."""
    upstream.listen(False)
    upstream.drop_connections()
    yield
    upstream.listen(True)


@contextlib.contextmanager
def cut(upstream):
    upstream.drop_connections()
    yield


@contextlib.contextmanager
def frozen(upstream):
    upstream.freeze()
    yield
    upstream.thaw()


TROUBLES = {
    "gone, and back": gone, "connections cut": cut, "frozen": frozen,
    "closes new connections": armed("connect close"), "no greeting": armed("banner stall"),
    "refuses STARTTLS": armed("starttls reply 454 4.7.0 Not now"), "breaks off TLS": armed("tls rst"),
    "speaks in the clear in TLS": armed("tls plaintext 250 2.0.0 Ok\\r\\n"),
    "421 as greeting": armed("banner reply-close 421 4.3.2 Not now"), "closes at MAIL": armed("mail close"),
    "says nothing to RCPT": armed("rcpt stall"), "refuses recipients": armed("rcpt reply 450 4.2.1 Later"),
    "451 to DATA": armed("data reply 451 4.3.0 Later"), "resets in the body": armed("body rst"),
    "stops reading the body": armed("body stall"), "554 to the dot": armed("dot reply 554 5.7.1 No"),
    "421 to the dot": armed("dot reply-close 421 4.3.2 Not now"), "accepts and closes": armed("dot accept-then-close"),
    "accepts and says nothing": armed("dot accept-then-stall"), "half a reply": armed("dot half"),
    "garbage as reply": armed("rcpt garbage"), "slow": armed("mail delay 100ms", "dot delay 200ms"),
    "closes after each message": armed("after close")}
