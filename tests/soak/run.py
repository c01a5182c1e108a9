"""What scripts/soak runs: `idle`, a crowd that stands (idle.py), or `load`, minutes of clients with bad manners and a
provider with faults (load.py). Ends with 1 and says why when the relay became slow, or kept something."""

import argparse
import dataclasses
import pathlib
import signal
import sys
import tempfile
import time

from . import idle, load

MODES = {"idle": (idle.Idle, idle.run), "load": (load.Load, load.run)}


def parser_of(modes):
    parser = argparse.ArgumentParser(prog="scripts/soak",
                                     description="Crowds and long loads, and what the relay keeps of them.")
    parser.add_argument("--folder", type=pathlib.Path, help="where logs are left; a new one in the system's place")
    of_mode = parser.add_subparsers(dest="mode", required=True)
    for name, (plan, _) in modes.items():
        mode = of_mode.add_parser(name)
        for field in dataclasses.fields(plan):
            mode.add_argument("--" + field.name, type=field.type, default=field.default,
                              help=f"({field.default})")
    return parser


def main():
    options = vars(parser_of(MODES).parse_args())
    folder = options.pop("folder") or pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    plan, run = MODES[options.pop("mode")]
    plan = plan(**options)
    print(f"{plan}\n{folder}", file=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # whoever ends this, the parts end too
    begin = time.monotonic()
    result = run(plan, folder, lambda text: print(f"{time.monotonic() - begin:7.1f} s  {text}", file=sys.stderr))
    print(f"\n{result.markdown()}")
    failures = list(result.failures)
    print(*(f"\n{failure}" for failure in failures), sep="")
    return bool(failures)
