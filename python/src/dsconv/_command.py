"""The `dsconv` command that comes with the package: where it is, and running it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Callable, NoReturn

# The exit codes of all commands.
DONE, FAILED, USAGE, SKIPPED = 0, 1, 2, 3

_ENVIRONMENT = "DSCONV_COMMAND"


def path() -> str:
    """The path of the program: that in DSCONV_COMMAND, else the one in the package.

    Raises FileNotFoundError if it is not there.
    """
    chosen = os.environ.get(_ENVIRONMENT)
    program = Path(chosen) if chosen else Path(__file__).parent / "bin" / "dsconv"
    if program.is_file():
        return str(program)
    if chosen:
        raise FileNotFoundError(f"{_ENVIRONMENT} is {chosen}, which is no file: let it name the dsconv program")
    raise FileNotFoundError(
        f"the dsconv program is missing from the package: {program} is not there. "
        f"Install dsconv from a wheel, or build the program and name it in {_ENVIRONMENT}"
    )


def main() -> NoReturn:
    """The `dsconv` of the console: the program takes this process over."""
    try:
        program = path()
    except FileNotFoundError as err:
        sys.exit(f"dsconv: {err}")
    os.execv(program, ["dsconv", *sys.argv[1:]])


def run(
    args: Sequence[str],
    on_line: Callable[[str], bool] | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Runs the command with args, with stdin as its standard input.

    on_line is called with each line of its standard error, without the line's end; lines
    for which it gives True are no part of the result's stderr. Exit code 3, some inputs
    were skipped, is a result. Wrong usage raises ValueError with the command's message,
    any other failure dsconv.Error.

    A KeyboardInterrupt, or an exception in on_line, interrupts the command as Ctrl-C does
    and waits for it, so that what it wrote is on the disk; then it is raised. Another one
    meanwhile ends the command at once.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as given, tempfile.TemporaryFile() as out:
        given.write(stdin)
        given.seek(0)
        # In a session of its own a Ctrl-C at the terminal does not reach it, which would
        # be a second one after that which is passed on.
        process = subprocess.Popen(
            [path(), *args], stdin=given, stdout=out, stderr=subprocess.PIPE, text=True,
            encoding="utf-8", errors="replace", start_new_session=True,
        )  # fmt: skip
        assert process.stderr is not None
        with process.stderr:
            said = _follow(process, process.stderr, on_line)
        out.seek(0)
        done = subprocess.CompletedProcess(process.args, process.wait(), out.read().decode("utf-8", "replace"), said)
    _check(done, args[0])
    return done


def flags(**options: object) -> list[str]:
    """The options as flags of a command: label_sep="," is --label-sep=,; None and False are
    left out, a sequence repeats its flag."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            words += [f"{flag}={v}" for v in value]
        else:
            words.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


def _follow(process: subprocess.Popen[str], errors: IO[str], on_line: Callable[[str], bool] | None) -> str:
    """Reads what the command says until it ends, and gives it."""
    said: list[str] = []
    try:
        for line in errors:
            if on_line is None or not on_line(line.rstrip("\n")):
                said.append(line)
        process.wait()
    except KeyboardInterrupt:
        said += _interrupt(process, errors)
        raise KeyboardInterrupt(_message("".join(said))) from None
    except BaseException:
        _interrupt(process, errors)
        raise
    return "".join(said)


def _interrupt(process: subprocess.Popen[str], errors: IO[str]) -> list[str]:
    """Interrupts the command, waits for its end and gives what it still said."""
    said: list[str] = []
    while True:
        try:
            # As Ctrl-C does, but not ignored where this process was started in the background of a
            # script, which ignores that. It does nothing to a command that has ended.
            process.terminate()
            said += [line for line in errors if not line.startswith("{")]
            process.wait()
            return said
        except KeyboardInterrupt:
            continue  # the second signal ends it at once


def _check(done: subprocess.CompletedProcess[str], command: str) -> None:
    """Raises what a failed command's exit code stands for."""
    if done.returncode in (DONE, SKIPPED):
        return
    message = _message(done.stderr) or f"dsconv {command} ended with exit code {done.returncode}"
    from dsconv import _native  # late: the console's dsconv does without

    raise _native.ArgumentError(message) if done.returncode == USAGE else _native.Error(message)


def _message(said: str) -> str:
    """What the command said, without its name before it."""
    text = said.strip()
    return text[len("dsconv: ") :] if text.startswith("dsconv: ") else text
