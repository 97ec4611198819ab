"""Shards packed by examples/scale/parallel.sh, by xargs, and by nothing at all."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster import EXAMPLES, driver_of
from job import SHARDS, Job, dsconv
from processes import Process, Unit
from rounds import assert_done, finish, kill_drivers, kill_workers
from usercopy import copy

# Counts the units that start.
pytestmark = pytest.mark.usefixtures("recorded")
ROOT = Path(os.environ["DSCONV_ENGINE"]).resolve() / "root"


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{ROOT}/usr/bin:{os.environ['PATH']}", "PERL5LIB": f"{ROOT}/usr/share/perl5"}


def script(job: Job) -> Path:
    """The user's copy of parallel.sh."""
    return copy("parallel.sh", job, at_once=2)


def start(job: Job) -> subprocess.Popen[str]:
    return popen(str(script(job)))


def popen(*argv: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        argv, env=environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def process(unit: Unit, _: list[Process], __: dict[int, Process]) -> list[Process]:
    return [unit.process]


def test_dsconv_is_killed(new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("parallel", "dsconv", new_job, reference, start, process)


def test_parallel_is_killed(new_job: Callable[[], Job], reference: Path) -> None:
    """All that the script has started dies with it. The script is started again."""
    kill_drivers("parallel", new_job, reference, start, driver_of)


def perl(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    return [p for p in ancestors if p.argv[0].endswith("perl")]


def test_only_parallel_is_killed(new_job: Callable[[], Job], reference: Path) -> None:
    """Its units go on, beside those of the next run: the commit of the script fails, and the user runs it again."""

    def again(job: Job) -> subprocess.Popen[str]:
        return popen("bash", "-c", 'until "$1"; do true; done', "again", str(script(job)))

    kill_workers("parallel", "parallel alone", new_job, reference, again, perl)


def xargs_line(job: Job) -> str:
    """The line of xargs that parallel.sh has in a comment, with the job's plan."""
    line = re.search(r"^# +(dsconv .* xargs .*)$", (EXAMPLES / "parallel.sh").read_text(), re.M)[1]
    return line.replace("plan.json", str(job.plan))


def test_xargs(new_job: Callable[[], Job], reference: Path) -> None:
    job = new_job()
    finish(popen("bash", "-euo", "pipefail", "-c", xargs_line(job)))
    job.commit()
    assert_done(job, reference)


def test_dsconv_is_killed_under_xargs(new_job: Callable[[], Job], reference: Path) -> None:
    """xargs stops, and the user runs the line again."""

    def again(job: Job) -> subprocess.Popen[str]:
        line = f"until {xargs_line(job)}; do true; done; dsconv shards commit {job.plan}"
        return popen("bash", "-uo", "pipefail", "-c", line)

    kill_workers("parallel", "dsconv, xargs", new_job, reference, again, process)


@pytest.mark.parametrize("copies", [1, 2])
def test_all_at_once(new_job: Callable[[], Job], reference: Path, copies: int) -> None:
    """16 processes, each with a shard of its own; then two for each shard."""
    job = new_job()
    running = [popen("dsconv", "shards", "pack", str(job.plan), str(i % SHARDS)) for i in range(copies * SHARDS)]
    for unit in running:
        finish(unit)
    assert dsconv("shards", "missing", str(job.plan)) == ""
    job.commit()
    assert_done(job, reference)


def test_scripts_are_clean() -> None:
    """shellcheck has nothing to say about what users copy, and about what installs engines."""
    here = Path(__file__).parents[1]
    install = [file for file in here.glob("install/*") if not file.suffix]
    files = [*EXAMPLES.glob("*.sh"), *EXAMPLES.glob("slurm/*"), *install, here / "unpack-packages"]
    assert len(files) > 5
    done = subprocess.run(["shellcheck", *files], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
