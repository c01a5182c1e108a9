"""Mails as applications build them: the same mail, made afresh each time."""

import email.message
import email.utils
import itertools
import uuid

_numbers = itertools.count(1)


class Mail:
    """One mail an application wants to send. Each build() has a new Message-ID, Date and boundary.

    X-Test-Id tells mails apart at the upstream; it does not count for their identity, but the subject does.
    """

    def __init__(self, subject=None, text="Dear Ada,\n\nyour invoice: 10.00 EUR.\n", html=None, headers=(),
                 attachment=None):
        self.test_id = f"t{next(_numbers)}-{uuid.uuid4().hex[:8]}"
        self.subject = subject or f"Invoice {self.test_id}"
        self.text = text
        self.html = html
        self.headers = list(headers)
        self.attachment = attachment

    def build(self):
        mail = email.message.EmailMessage()
        mail["From"] = "Shop <shop@example.com>"
        mail["To"] = "Ada <ada@example.net>"
        mail["Subject"] = self.subject
        mail["Date"] = email.utils.localtime()
        mail["Message-ID"] = email.utils.make_msgid(domain="app.example.com")
        mail["X-Test-Id"] = self.test_id
        for name, value in self.headers:
            mail[name] = value
        mail.set_content(self.text)
        if self.html:
            mail.add_alternative(self.html, subtype="html")
        if self.attachment:
            mail.add_attachment(self.attachment, maintype="application", subtype="pdf", filename="invoice.pdf")
        return mail.as_bytes(policy=mail.policy.clone(linesep="\r\n"))
