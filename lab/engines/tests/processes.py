"""The processes of this machine, as /proc shows them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

HANGS = 300  # seconds after which what is waited for counts as never coming


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    started: int  # in ticks: with the number it names one process for good
    argv: tuple[str, ...]

    @property
    def name(self) -> str:
        """The command line, short. A JVM's begins with long options; the class is near the end."""
        line = " ".join(self.argv).strip()
        return line if len(line) <= 160 else f"{line[:40]}...{line[-117:]}"

    def is_alive(self) -> bool:
        now = _read(self.pid)
        return now is not None and now.started == self.started


@dataclass(frozen=True)
class Unit:
    """A running `dsconv shards pack`."""

    process: Process
    shard: int


def processes() -> dict[int, Process]:
    """All processes that have not ended, by number."""
    found = (_read(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {process.pid: process for process in found if process is not None}


def units(plan: Path, table: dict[int, Process] | None = None) -> list[Unit]:
    """The running units of a plan."""
    found = []
    for process in (processes() if table is None else table).values():
        for i in range(len(process.argv) - 3):
            # A program that starts units, such as xargs, has {} instead of the number.
            if process.argv[i : i + 3] == ("shards", "pack", str(plan)) and process.argv[i + 3].isdigit():
                found.append(Unit(process, int(process.argv[i + 3])))
    return found


def ancestors(process: Process, table: dict[int, Process]) -> list[Process]:
    """The process's parent, the parent's parent, and so on."""
    found = []
    while (process := table.get(process.parent)) is not None:
        found.append(process)
    return found


def descendants(process: Process, table: dict[int, Process]) -> list[Process]:
    """The process's children, their children, and so on."""
    children = [p for p in table.values() if p.parent == process.pid]
    return children + [p for child in children for p in descendants(child, table)]


def kill(victims: Iterable[Process]) -> None:
    """Kills processes at once: all are stopped before the first dies, so that none sees another's end."""
    victims = list(victims)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in victims:
            if process.is_alive():
                try:
                    os.kill(process.pid, number)
                except ProcessLookupError:
                    pass


def wait_until(condition: Callable[[], object], what: str, seconds: float = HANGS) -> None:
    """Waits for an event. The limit only detects that it never comes."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain until {what}")
        time.sleep(0.05)


def _read(pid: int) -> Process | None:
    """The process with this number; None if there is none, or if it has ended and only waits for its parent."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        argv = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat[stat.rindex(")") + 2 :].split()  # the name before it may have any character
    if fields[0] in "ZX":
        return None
    return Process(pid, parent=int(fields[1]), started=int(fields[19]), argv=tuple(argv[:-1]))
