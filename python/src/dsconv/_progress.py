"""Progress bars for the command: tqdm's if it is installed, else a line of text."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Sequence
from subprocess import CompletedProcess
from typing import Any

from dsconv import _command

_WIDTH = 30


class Bar:
    """Shows how much of total is done, on a terminal or in a notebook. Elsewhere it shows nothing."""

    def __init__(self, title: str, total: int | None, unit: str) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._drawn = "ipykernel" in sys.modules or sys.stderr.isatty()
        self._tqdm = _tqdm(title, total, unit) if self._drawn else None
        self._width = 0  # of the line on the terminal

    def show(self, done: int, note: str = "") -> None:
        if self._tqdm is not None:
            self._tqdm.set_postfix_str(note, refresh=False)
            self._tqdm.update(done - self._tqdm.n)
        elif self._drawn:
            line = f"{self._title} {done} {self._unit}s {note}"
            if self._total is not None:
                full = _WIDTH * done // max(self._total, 1)
                line = (
                    f"{self._title} [{'=' * full}{' ' * (_WIDTH - full)}] {done} of {self._total} {self._unit}s {note}"
                )
            print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(line)

    def close(self) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._drawn:
            print(file=sys.stderr)


class JSONProgress:
    """Shows the lines of ``--progress json``, with a bar for each dataset. `line` is a callback for `_command.run`.

    The command writes these lines even if no bar is shown: it ends at its next line if Python was killed."""

    def __init__(self, unit: str, title: str = "", drawn: bool = True) -> None:
        self._unit, self._title, self._drawn = unit, title, drawn
        self._dataset: tuple[str, int | None] | None = None
        self._bar: Bar | None = None

    def line(self, line: str) -> bool:
        """Handles a line of progress. Returns False for any other line."""
        if not line.startswith("{"):
            return False
        if self._drawn:
            self.show(json.loads(line))
        return True

    def show(self, step: dict[str, Any]) -> None:
        """Shows what a line says."""
        beside = not step["total"] and self._unit != "item"  # the turns: nobody knows how many of these there will be
        if not self._drawn or beside:
            return
        title, total = self._title or step["dataset"], step["total"] or None  # an iterable has no length
        if self._bar is None or (title, total) != self._dataset:
            self.close()
            self._dataset, self._bar = (title, total), Bar(title, total, self._unit)
        self._bar.show(step["done"], _note(step))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def run_command(
    arguments: Sequence[str],
    unit: str,
    title: str = "",
    drawn: bool = True,
    stdin: str = "",
    sockets: Sequence[socket.socket] = (),
) -> CompletedProcess[str]:
    """Runs the command, with a text as its standard input, and shows its ``--progress json`` as a bar.

    It gets the sockets, which are closed here."""
    progress = JSONProgress(unit, title, drawn)
    try:
        return _command.run(arguments, progress.line, stdin, sockets)
    finally:
        progress.close()


def _note(step: dict[str, Any]) -> str:
    if "images_per_second" in step:
        return f"{step['dataset']}: {step['images_per_second']:.0f} images/s"
    return f"{step['skipped']} skipped" if step.get("skipped") else ""


def _tqdm(title: str, total: int | None, unit: str) -> Any:
    """tqdm's bar, in notebooks a widget; None if tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=title, unit=f" {unit}")
