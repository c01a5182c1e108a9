"""The jobs of a shop: Celery tasks that send through Django. The test publishes them and leads them through files."""

import os
import pathlib
import smtplib
import time

import celery
import django
from django.conf import settings

settings.configure(EMAIL_HOST="127.0.0.1", USE_TZ=True)
django.setup()

from django.core.mail import EmailMultiAlternatives, get_connection  # noqa: E402

FOLDER = pathlib.Path(os.environ["SHOP_FOLDER"])

app = celery.Celery("shop", broker=os.environ["SHOP_BROKER"])
app.conf.update(
    # Celery's default is an hour: a task that takes longer than that is what a test can not wait for.
    broker_transport_options={"visibility_timeout": 1},
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_lost_wait=0.1,
)


def note(what, job):
    """Tells the test how far this run of the job has come: a file a run, with the process that runs it."""
    (FOLDER / f"{what}.{job}.{time.monotonic_ns()}.{os.getpid()}").touch()


def hold_until(what):
    end = time.monotonic() + 30
    while not (FOLDER / what).exists():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.005)


def invoice(port, job, recipients):
    mail = EmailMultiAlternatives(f"Invoice {job}", "Dear Ada,\n\nyour invoice: 10.00 EUR.\n", "shop@example.com",
                                  recipients, connection=get_connection(port=port), headers={"X-Test-Id": job})
    mail.attach_alternative("<p>your invoice: <b>10.00 EUR</b></p>", "text/html")
    mail.attach("invoice.pdf", b"%PDF-1.4 " + job.encode(), "application/pdf")
    return mail


@app.task
def render_and_send(port, job):
    note("started", job)
    hold_until("rendered")
    invoice(port, job, ["ada@example.net"]).send()
    note("done", job)


@app.task
def send_and_book(port, job):
    invoice(port, job, ["ada@example.net"]).send()
    note("sent", job)
    hold_until("booked")
    note("done", job)


@app.task(autoretry_for=(smtplib.SMTPException,), default_retry_delay=0)
def send_to_each(port, job, recipients):
    note("started", job)
    for recipient in recipients:
        invoice(port, job, [recipient]).send()
    note("done", job)


@app.task(autoretry_for=(smtplib.SMTPException,), default_retry_delay=0)
def send_to_all(port, job, recipients):
    """One mail. Django's send() is silent about a recipient refused beside others; who must know asks smtplib."""
    note("started", job)
    mail = invoice(port, job, recipients)
    with mail.connection as connection:
        octets = mail.message().as_bytes(linesep="\r\n")
        refused = connection.connection.sendmail(mail.from_email, recipients, octets)
    if refused:
        raise smtplib.SMTPRecipientsRefused(refused)
    note("done", job)
