"""Measures the DataLoader of a script: `python -m dsconv.measure --script train.py:loader --json report.json`.

`dsconv bench --script` runs this module with the Python of the training, and adds the verdict. Without --json the
report goes to standard output. What the script itself prints goes to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from dsconv._errors import ArgumentError
from dsconv._measure.bench import bench
from dsconv._measure.script import Script, split


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the program. Wrong usage ends with exit code 2."""
    options = parser().parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
    with _reports(options) as out, contextlib.redirect_stdout(sys.stderr):
        try:
            path, name, arguments = split(options.script)
            script = Script(path, arguments)
            report = bench(
                script.loader(name),
                options.datasets,
                name=options.script,
                rounds=options.rounds,
                limit_batches=options.limit_batches,
                step=script.function(options.step) if options.step else None,
                transfer=script.function(options.transfer) if options.transfer else None,
                consume=options.consume,
                tune=options.tune,
                on_turn=_write_line if options.progress == "json" else None,
            )
        except ArgumentError as err:
            print(f"dsconv.measure: {err}", file=sys.stderr)
            sys.exit(2)
        except KeyboardInterrupt:
            sys.exit(130)
        out.write(report.to_json())


def parser() -> argparse.ArgumentParser:
    """The options, which have the names of those of `dsconv bench`."""
    p = argparse.ArgumentParser(prog="python -m dsconv.measure", description=__doc__, allow_abbrev=False)
    p.add_argument("datasets", nargs="*", help="datasets to measure beside it, with the same transforms")
    p.add_argument(
        "--script",
        required=True,
        metavar="FILE:NAME",
        help="the DataLoader, or a function that returns one; after it, the script's own arguments",
    )
    p.add_argument("--step", metavar="NAME", help="the loop's step in the script: a function of a batch")
    p.add_argument("--transfer", metavar="NAME", help="a function that moves a batch to the device and returns it")
    p.add_argument("--consume", type=float, metavar="RATE", help="images/s of a simulated GPU")
    p.add_argument("--rounds", type=int, metavar="N", help="epochs of each, after one to warm up (default: 3)")
    p.add_argument("--limit-batches", type=int, metavar="N", help="end each epoch after N batches")
    p.add_argument("--tune", action="store_true", help="find the DataLoader's best settings, and measure it with them")
    p.add_argument("--json", metavar="FILE", help="write the report to FILE; a number is an open file descriptor")
    p.add_argument("--progress", choices=("none", "json"), default="none", help="lines of JSON on standard error")
    return p


@contextlib.contextmanager
def _reports(options: argparse.Namespace) -> Iterator[IO[str]]:
    """The file of the report."""
    if options.json is None:
        yield sys.stdout
        return
    target = int(options.json) if options.json.isdigit() else options.json
    if isinstance(target, int):
        os.set_inheritable(target, False)  # for programs that the script starts
    with open(target, "w", encoding="utf-8") as f:
        yield f


def _write_line(turn: dict[str, Any]) -> None:
    print(json.dumps(turn), file=sys.stderr, flush=True)


def _stop(*_: object) -> None:
    """Ends the measurement and its workers. Ctrl-C in a terminal comes twice, from it and from `dsconv bench`: the
    second one must not interrupt the end of the first."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
