"""Long-running programs of an engine, and the drivers that use them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from job import OPTIONS, SHARDS, Job, photos
from killer import Victims
from processes import HANGS, Process, Unit, descendants

EXAMPLES = Path(__file__).parents[3] / "examples" / "scale"


class Programs:
    """Programs that run until stop(). Their messages are in files of the folder."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, *argv: str, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        log = self._logs / f"{Path(argv[0]).name}-{len(self._running)}.log"
        with open(log, "wb") as file:
            process = subprocess.Popen(argv, stdout=file, stderr=file, stdin=subprocess.DEVNULL, env=environment)
        self._running.append(process)
        return process

    def stop(self) -> None:
        for process in self._running:
            process.terminate()
        for process in self._running:
            try:
                process.wait(HANGS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def example(name: str, job: Job) -> subprocess.Popen[str]:
    """Starts a program of examples/scale as the driver of a job. Its output is one text."""
    arguments = [str(job.plan), photos(), job.destination, str(SHARDS), *OPTIONS]
    return subprocess.Popen(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip


def driver_of(pid: int) -> Victims:
    """Kills the driver with this number, and what it has started, such as Spark's JVM."""

    def victims(_: Unit, __: list[Process], table: dict[int, Process]) -> list[Process]:
        return [table[pid], *descendants(table[pid], table)] if pid in table else []

    return victims
