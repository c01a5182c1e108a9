"""send_django.py PORT SUBJECT TEST_ID: sends one mail as a Django application does; prints how many were sent."""

import sys

import django
from django.conf import settings

port, subject, test_id = sys.argv[1:]
settings.configure(EMAIL_HOST="127.0.0.1", EMAIL_PORT=int(port), USE_TZ=True)
django.setup()

from django.core.mail import EmailMultiAlternatives  # noqa: E402

mail = EmailMultiAlternatives(subject, "Dear Ada,\n\nyour invoice: 10.00 EUR.\n", "shop@example.com",
                              ["ada@example.net"], headers={"X-Test-Id": test_id})
mail.attach_alternative("<p>your invoice: <b>10.00 EUR</b></p>", "text/html")
mail.attach("invoice.pdf", b"%PDF-1.4 " + subject.encode(), "application/pdf")
print(mail.send())
