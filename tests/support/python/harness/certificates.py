"""The certificates of certs/make."""

import pathlib
import subprocess


def certificates(folder):
    make = pathlib.Path(__file__).resolve().parents[4] / "certs" / "make"
    subprocess.run([str(make), str(folder)], check=True, capture_output=True)
    return folder
