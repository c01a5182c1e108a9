"""A client's SMTP session: what it has to say goes out in as few flights as the protocol allows."""

import socket


class Lost(Exception):
    """The connection broke, or the other side says nothing more: what became of the message is not known here."""


class Session:
    def __init__(self, port, timeout):
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._input = self._socket.makefile("rb")
            self._expect(220)
            self._write(b"EHLO app.example.com\r\n")
            self._expect(250)
        except OSError as error:
            raise Lost(repr(error)) from None

    def send(self, recipients, octets, leave=False):
        """Recipient → (code, text), the last word about each; `leave`: goes away without hearing about the dot."""
        try:
            replies = self._envelope(recipients)
            code, text = self._reply()  # to DATA
            if code == 354:
                # The mails have no line that begins with a dot.
                self._write(octets + b".\r\n")
                if leave:
                    raise Lost("left")
                code, text = self._reply()
            else:
                self._write(b"RSET\r\n")
                self._expect(250)
            return {**{recipient: (code, text) for recipient in recipients}, **replies}
        except OSError as error:
            raise Lost(repr(error)) from None

    def _envelope(self, recipients):
        lines = ["MAIL FROM:<shop@example.com>", *(f"RCPT TO:<{recipient}>" for recipient in recipients), "DATA"]
        self._write("".join(line + "\r\n" for line in lines).encode())
        mail = self._reply()
        replies = {recipient: self._reply() for recipient in recipients}
        if mail[0] // 100 != 2:
            return {recipient: mail for recipient in recipients}
        return {recipient: reply for recipient, reply in replies.items() if reply[0] // 100 != 2}

    def _expect(self, wanted):
        code, text = self._reply()
        if code != wanted:
            self.close()
            raise Lost(f"{code} {text}")

    def _write(self, octets):
        self._socket.sendall(octets)

    def _reply(self):
        texts = []
        while True:
            line = self._input.readline()
            if not line.endswith(b"\r\n"):
                raise Lost("cut")
            texts.append(line[4:-2].decode("latin-1"))
            if line[3:4] != b"-":
                break
        code = int(line[:3])
        if code == 421:
            raise Lost(f"421 {texts[-1]}")
        return code, " / ".join(texts)

    def close(self):
        self._socket.close()
