"""Finds and runs the package's `dsconv` program."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from numbers import Number
from pathlib import Path
from typing import IO, Any, Callable, NoReturn

from dsconv._errors import ArgumentError, ArgumentTypeError, Error
from dsconv._short_messages import cut, shown

# The exit codes of all commands.
DONE, USAGE, SKIPPED = 0, 2, 3  # 1 is any other failure

_ENVIRONMENT = "DSCONV_COMMAND"


def path() -> str:
    """The path of the program: DSCONV_COMMAND, else the file in the package.

    Raises FileNotFoundError if it does not exist.
    """
    chosen = os.environ.get(_ENVIRONMENT)
    program = Path(chosen) if chosen else Path(__file__).parent / "bin" / "dsconv"
    if program.is_file():
        return str(program)
    if chosen:
        raise FileNotFoundError(f"{_ENVIRONMENT}={chosen}: no such file; set it to the path of the dsconv program")
    raise FileNotFoundError(
        f"the dsconv program is missing: {program}. "
        f"Install dsconv from a wheel, or build the program and set {_ENVIRONMENT} to its path"
    )


def main() -> NoReturn:
    """The `dsconv` of the console: replaces this process by the program, and names this Python to it."""
    try:
        program = path()
        if os.path.exists(sys.argv[0]) and os.path.samefile(program, sys.argv[0]):
            del os.environ[_ENVIRONMENT]  # it names this script, as `which dsconv` does: it would start itself for ever
            program = path()
    except FileNotFoundError as err:
        sys.exit(f"dsconv: {err}")
    os.environ.setdefault("DSCONV_PYTHON", sys.executable)
    os.execv(program, ["dsconv", *sys.argv[1:]])


def run(
    args: Sequence[str],
    on_line: Callable[[str], bool] | None = None,
    stdin: str = "",
    sockets: Sequence[socket.socket] = (),
    started: Callable[[subprocess.Popen[str]], object] = lambda _: None,
) -> subprocess.CompletedProcess[str]:
    """Runs the command with args, with stdin as its standard input. It gets the sockets, which are closed here.
    started is called with the process.

    on_line is called with each line of the command's standard error, without the newline. Lines for which it returns
    True are left out of the result's stderr. Exit code 3 (some inputs were skipped) is a success. Wrong usage raises
    ValueError with the command's message, any other failure dsconv.Error.

    A KeyboardInterrupt, or an exception in on_line, interrupts the command as Ctrl-C does and waits for its end, so
    that its data is on the disk. Then the exception is raised. A second KeyboardInterrupt ends the command at once.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as given, tempfile.TemporaryFile() as out:
        given.write(stdin)
        given.seek(0)
        # In its own session the command gets no Ctrl-C from the terminal, only the one that is passed on.
        process = subprocess.Popen(
            [path(), *args], stdin=given, stdout=out, stderr=subprocess.PIPE, text=True,
            encoding="utf-8", errors="replace", start_new_session=True, pass_fds=[s.fileno() for s in sockets],
        )  # fmt: skip
        started(process)
        for s in sockets:
            s.close()
        assert process.stderr is not None
        with process.stderr:
            messages = _follow(process, process.stderr, on_line)
        out.seek(0)
        done = subprocess.CompletedProcess(
            process.args, process.wait(), out.read().decode("utf-8", "replace"), messages
        )
    _check(done, args[0])
    return done


def flags(**options: object) -> list[str]:
    """The options as flags: label_sep="," becomes --label-sep=,. None and False are left out; a list or tuple repeats
    its flag. Raises TypeError for a value that is neither a text, a number nor a path."""
    found = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(flag)
        else:
            listed = value if isinstance(value, (list, tuple)) else [value]
            found += [f"{flag}={_text(name, v)}" for v in listed]
    return found


def _text(name: str, value: Any) -> str:
    """The value of a flag as a text."""
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(value)
    if isinstance(value, Number):
        return str(value)
    raise ArgumentTypeError(f"{name}={shown(value)}: it must be a text, a number or a path")


def _follow(process: subprocess.Popen[str], errors: IO[str], on_line: Callable[[str], bool] | None) -> str:
    """Reads the command's standard error until it ends, and returns its lines."""
    lines: list[str] = []
    try:
        for line in errors:
            if on_line is None or not on_line(line.rstrip("\n")):
                lines.append(line)
        process.wait()
    except KeyboardInterrupt:
        lines += _interrupt(process, errors)
        raise KeyboardInterrupt(message("".join(lines))) from None
    except BaseException:
        _interrupt(process, errors)
        raise
    return "".join(lines)


def _interrupt(process: subprocess.Popen[str], errors: IO[str]) -> list[str]:
    """Interrupts the command, waits for its end and returns its last messages."""
    lines: list[str] = []
    while True:
        try:
            # The command handles SIGTERM like Ctrl-C. SIGINT would be ignored if this process was started in the
            # background of a script. An ended command is not affected.
            process.terminate()
            lines += [line for line in errors if not line.startswith("{")]
            process.wait()
            return lines
        except KeyboardInterrupt:
            continue  # the second signal ends the command at once


def _check(done: subprocess.CompletedProcess[str], command: str) -> None:
    """Raises the exception for a failed command's exit code."""
    if done.returncode in (DONE, SKIPPED):
        return
    text = message(done.stderr) or f"dsconv {command} ended with exit code {done.returncode}"
    if command == "pack":
        text = re.sub(r"--(force|discard)\b", r"\1=True", text)
    raise ArgumentError(text) if done.returncode == USAGE else Error(text)


def message(stderr: str) -> str:
    """The command's message without the name of the program."""
    text = cut(stderr.strip())
    return text[len("dsconv: ") :] if text.startswith("dsconv: ") else text
