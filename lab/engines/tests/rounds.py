"""Jobs whose processes are killed, until enough of a kind were."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from job import Job, record
from killer import Killer, Victims
from processes import units, wait_until

KILLS = int(os.environ.get("DSCONV_ENGINE_KILLS", "10"))  # of each kind
KILLS_OF_A_JOB = 4  # and then the job must come to its end


def kill_workers(
    engine: str,
    kind: str,
    new_job: Callable[[], Job],
    reference: Path,
    start: Callable[[Job], subprocess.Popen[str]],
    victims: Victims,
    afterwards: Callable[[], None] | None = None,
) -> None:
    """Kills what runs units. Each job must end well all the same."""

    def run(job: Job, count: int) -> list[dict[str, Any]]:
        with Killer(job, kind, victims, count, afterwards=afterwards) as killer:
            finish(start(job))
        return killer.kills

    _repeat(engine, kind, new_job, reference, run)


def kill_drivers(
    engine: str,
    new_job: Callable[[], Job],
    reference: Path,
    start: Callable[[Job], subprocess.Popen[str]],
    victims: Callable[[int], Victims],
    kind: str = "driver",
    status: int = -signal.SIGKILL,
    afterwards: Callable[[], None] | None = None,
) -> None:
    """Kills the program that submits the units, or what the job dies with, and starts it again until it ends well.

    It ends with `status` after a kill.
    """

    def run(job: Job, count: int) -> list[dict[str, Any]]:
        kills: list[dict[str, Any]] = []
        while len(kills) < count:
            driver = start(job)
            with Killer(job, kind, victims(driver.pid), count=1, afterwards=afterwards) as killer:
                output, _ = driver.communicate()
            if driver.returncode == 0:  # before a kill met it
                return kills
            assert driver.returncode == status, output
            kills += killer.kills
        finish(start(job))
        return kills

    _repeat(engine, kind, new_job, reference, run)


def finish(driver: subprocess.Popen[str]) -> None:
    """Waits for the end of a driver, which must be a good one."""
    output, _ = driver.communicate()
    assert driver.returncode == 0, output


def assert_done(job: Job, reference: Path) -> None:
    """Checks what a job made, and that none of its processes is left."""
    wait_until(lambda: not units(job.plan), "no unit of the job runs any more")
    job.assert_published(reference)


def _repeat(
    engine: str,
    kind: str,
    new_job: Callable[[], Job],
    reference: Path,
    run: Callable[[Job, int], list[dict[str, Any]]],
) -> None:
    done = 0
    for _ in range(2 * KILLS):  # a job that dies as a whole takes one kill, and now and then none
        job = new_job()
        kills = run(job, min(KILLS_OF_A_JOB, KILLS - done))
        seconds = job.seconds()
        assert_done(job, reference)
        record(engine, test=f"{kind} killed", seconds=seconds, attempts=job.attempts(), kills=kills)
        job.remove()
        done += len(kills)
        if done >= KILLS:
            return
    raise AssertionError(f"{2 * KILLS} jobs ran, and only {done} kills met a running unit")
