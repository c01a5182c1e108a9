"""The relay under test and the provider behind it, each a process."""

import contextlib

from harness import Relay, Upstream, certificates


class Rig:
    """`listener`: further keys of the first listener, which offers STARTTLS; `listen`: further listeners;
    `tls_upstream`: the provider is spoken to in TLS."""

    def __init__(self, folder, store, listener=None, listen=(), tls_upstream=False, **tables):
        self._parts = contextlib.ExitStack()
        try:
            self.upstream = Upstream(folder, count_only=True, tls=tls_upstream)
            self._parts.callback(self.upstream.stop)
            self.relay = Relay(folder, url_of(self.upstream, tls_upstream), store=stores(folder)[store],
                               listen=[{**with_certificate(folder), **(listener or {})}, *listen],
                               log={"level": "info"}, **tables)
            self._parts.callback(self.relay.stop)
        except BaseException:
            self._parts.close()
            raise

    def port(self, number):
        """Of the listener of this number."""
        return int(self.relay.wait_for_event("listening", number + 1)["address"].rsplit(":", 1)[1])

    @property
    def pid(self):
        return self.relay.child.pid

    def stop(self):
        self._parts.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def with_certificate(folder):
    certs = certificates(folder / "certs")
    return {"address": "127.0.0.1:0", "certificate_file": str(certs / "server.pem"),
            "key_file": str(certs / "server.key")}


def url_of(upstream, tls):
    return f"smtp+starttls://localhost:{upstream.port}" if tls else upstream.url


def stores(folder):
    return {"memory": "memory:", "sqlite": f"sqlite:{folder}/window.db"}
