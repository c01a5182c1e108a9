"""The demonstration of scripts/run: a capturing upstream, the relay before it, one mail built and sent twice."""

import argparse
import email.message
import email.policy
import email.utils
import json
import os
import pathlib
import signal
import smtplib
import subprocess
import sys
import tempfile
import time


def build_mail():
    """Builds the mail afresh, as a task that runs again does: new Message-ID, new Date, new boundary."""
    mail = email.message.EmailMessage()
    mail["From"] = "Shop <shop@example.com>"
    mail["To"] = "Ada <ada@example.net>"
    mail["Subject"] = "Your invoice 1001"
    mail["Date"] = email.utils.localtime()
    mail["Message-ID"] = email.utils.make_msgid(domain="app.example.com")
    mail.set_content("Dear Ada,\n\nyour invoice is attached: 10.00 EUR.\n")
    mail.add_alternative("<p>Dear Ada,</p><p>your invoice is attached: <b>10.00 EUR</b>.</p>\n", subtype="html")
    mail.add_attachment(b"%PDF-1.4 invoice 1001\n", maintype="application", subtype="pdf", filename="invoice-1001.pdf")
    return mail


def send(port):
    """Sends one build; returns the reply to it, and the Message-ID."""
    mail = build_mail()
    with smtplib.SMTP("127.0.0.1", port, timeout=60) as client:
        client.ehlo()
        for code, text in (client.mail("shop@example.com"), client.rcpt("ada@example.net")):
            if code != 250:
                return code, text, mail["Message-ID"]
        code, text = client.data(mail.as_bytes(policy=email.policy.SMTP))
        return code, text, mail["Message-ID"]


def first_line(stream, what):
    line = stream.readline()
    if not line:
        sys.exit(f"{what} did not start")
    return line


def wait_for_listening(log, relay):
    """The relay's `listening` event names its address."""
    for _ in range(300):
        for line in log.read_text().splitlines():
            if " listening " in line or line.endswith(" listening"):
                return
        if relay.poll() is not None:
            sys.exit("mailonce did not start:\n" + log.read_text())
        time.sleep(0.1)
    sys.exit("mailonce did not start in 30 s")


def decisions(log):
    return [line for line in log.read_text().splitlines() if " forwarded " in line or " duplicate " in line]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--once", choices=("yes", "no"), required=True)
    options = parser.parse_args()

    folder = pathlib.Path(tempfile.mkdtemp(prefix="mailonce-demo-"))
    captured = folder / "captured"
    captured.mkdir()
    log = folder / "mailonce.log"
    upstream = subprocess.Popen(
        [options.bin / "scripted-upstream", "--profile", "plain", "--listen", "127.0.0.1:0", "--capture", captured],
        stdout=subprocess.PIPE, stderr=open(folder / "upstream.log", "w"), text=True)
    processes = [upstream]
    try:
        upstream_port = json.loads(first_line(upstream.stdout, "The capturing upstream"))["port"]
        relay = subprocess.Popen(
            [options.bin / "mailonce", "serve", "--listen", f"127.0.0.1:{options.port}",
             "--upstream", f"smtp://127.0.0.1:{upstream_port}"],
            env={**os.environ, "STATE_DIRECTORY": str(folder)}, stdout=open(log, "w"), stderr=subprocess.STDOUT)
        processes.append(relay)
        wait_for_listening(log, relay)
        return show(options, folder, captured, log, processes)
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(timeout=60)


def show(options, folder, captured, log, processes):
    print(f"\nAn application sends a mail through 127.0.0.1:{options.port}; its task runs twice.\n")
    told = []
    for attempt in ("first", "second"):
        code, text, message_id = send(options.port)
        told.append(code)
        print(f"  {attempt} run, Message-ID {message_id}\n    is told: {code} {text.decode()}")
    for _ in range(50):
        if len(decisions(log)) >= 2:
            break
        time.sleep(0.1)
    copies = len(list(captured.glob("*.eml")))
    print(f"\nThe upstream got {copies} cop{'y' if copies == 1 else 'ies'}. The relay's decisions:\n")
    for line in decisions(log):
        print("  " + line)
    right = copies == 1 and all(200 <= code < 300 for code in told)
    if options.once == "yes" or not right:
        return 0 if right else 1
    print(f"""
Now your own application: point its SMTP host at 127.0.0.1, port {options.port}. Nothing leaves this machine:
  what arrives   {captured}
  the log        {log}
Ctrl-C ends it.""", flush=True)
    try:
        while all(process.poll() is None for process in processes):
            time.sleep(0.5)
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
