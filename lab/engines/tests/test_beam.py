"""Shards packed by Beam: on Prism, in the launcher, and on a Flink cluster by Beam's job server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster import Programs, driver_of
from flink import JOB_SERVER, Flink
from job import SHARDS, Job
from killer import Victims
from processes import Process, Unit, processes, units, wait_until
from rounds import assert_done, finish, kill_drivers, kill_workers

BEAM = str(Path(os.environ["DSCONV_ENGINE"], "dsconv-beam").resolve())  # as it starts itself in a worker
POOL = "localhost:50000"


def launch(job: Job, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [BEAM, f"--plan={job.plan}", f"--dsconv={os.environ['DSCONV_COMMAND']}", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip


def on_prism(job: Job) -> subprocess.Popen[str]:
    return launch(job, "--runner=prism", "--at-once=2")


def on_flink(job: Job, *options: str) -> subprocess.Popen[str]:
    environment = options or ("--environment_type=PROCESS",)
    return launch(job, "--runner=flink", f"--endpoint={JOB_SERVER}", "--parallelism=2", *environment)


def on_flink_with_pool(job: Job) -> subprocess.Popen[str]:
    return on_flink(job, "--environment_type=EXTERNAL", f"--environment_config={POOL}")


@pytest.fixture(scope="module")
def flink(recorded: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flink]:
    cluster = Flink(tmp_path_factory.mktemp("flink"), Path(os.environ["DSCONV_ENGINE"]) / "flink")
    yield cluster
    cluster.stop()


@pytest.fixture
def pool(flink: Flink, tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Starts a pool of workers, and another for each call."""
    programs = Programs(tmp_path)

    def start() -> None:
        programs.start(BEAM, f"--pool={POOL}")

    start()
    yield start
    programs.stop()


def child(unit: Unit, _: list[Process], __: dict[int, Process]) -> list[Process]:
    return [unit.process]


def worker(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    assert ancestors[0].argv[0] == BEAM, ancestors[0]
    return ancestors[:1]


def task_manager(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    """The JVM alone: the worker that it has started must notice by itself."""
    assert any("TaskManagerRunner" in argument for argument in ancestors[1].argv), ancestors[1]
    return ancestors[1:2]


def job_manager(_: int) -> Victims:
    def victims(_: Unit, __: list[Process], table: dict[int, Process]) -> list[Process]:
        return [p for p in table.values() if any("StandaloneSessionCluster" in argument for argument in p.argv)]

    return victims


def assert_no_workers() -> None:
    wait_until(lambda: not [p for p in processes().values() if p.argv[:1] == (BEAM,)], "no worker is left")


def test_prism_retries_what_fails(recorded: None, new_job: Callable[[], Job], reference: Path) -> None:
    job = new_job()
    job.spoil("fails", 3)
    finish(on_prism(job))
    assert job.attempts() == SHARDS + 1
    assert_done(job, reference)
    finish(on_prism(job))  # nothing is missing
    assert job.attempts() == SHARDS + 1
    assert_no_workers()


def test_children_of_prism_are_killed(recorded: None, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("beam", "prism: child", new_job, reference, on_prism, child)


def test_prism_is_killed(recorded: None, new_job: Callable[[], Job], reference: Path) -> None:
    kill_drivers("beam", new_job, reference, on_prism, launcher, "prism: launcher and worker")


def launcher(pid: int) -> Victims:
    """The launcher alone, and not its children, which must notice by themselves."""

    def victims(_: Unit, __: list[Process], table: dict[int, Process]) -> list[Process]:
        return [table[pid]] if pid in table else []

    return victims


def test_flink(flink: Flink, new_job: Callable[[], Job], reference: Path) -> None:
    job = new_job()
    job.spoil("fails", 3)
    finish(on_flink(job))
    assert job.attempts() == SHARDS + 1
    assert_done(job, reference)
    assert_no_workers()


def test_children_are_killed(flink: Flink, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("beam", "child", new_job, reference, on_flink, child)
    assert_no_workers()


def test_workers_are_killed(flink: Flink, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("beam", "worker", new_job, reference, on_flink, worker)
    assert_no_workers()


def test_pools_are_killed(flink: Flink, pool: Callable[[], None], new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("beam", "pool", new_job, reference, on_flink_with_pool, worker, afterwards=pool)


def test_task_managers_are_killed(flink: Flink, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("beam", "TaskManager", new_job, reference, on_flink, task_manager, afterwards=flink.add_task_manager)
    assert_no_workers()


def test_job_managers_are_killed(flink: Flink, new_job: Callable[[], Job], reference: Path) -> None:
    kill_drivers("beam", new_job, reference, on_flink, job_manager, "JobManager", 1, flink.replace_job_manager)
    assert_no_workers()


def test_launchers_are_killed(flink: Flink, new_job: Callable[[], Job], reference: Path) -> None:
    kill_drivers("beam", new_job, reference, on_flink, driver_of, "launcher")
    assert_no_workers()


def test_an_interrupted_launcher(flink: Flink, new_job: Callable[[], Job], reference: Path) -> None:
    job = new_job()
    started = on_flink(job)
    wait_until(lambda: units(job.plan), "a unit runs")
    started.terminate()
    output, _ = started.communicate()
    assert started.returncode == 1, output
    assert "interrupted" in output, output
    finish(on_flink(job))
    assert_done(job, reference)
    assert_no_workers()
