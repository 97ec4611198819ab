"""Shards packed by a Dask cluster of two workers, each with its nanny."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import dsconv
import dsconv.engines.dask
import pytest
from cluster import Programs, driver_of, example
from distributed import Client
from job import Job
from processes import HANGS, Process, Unit
from rounds import assert_done, kill_drivers, kill_workers

ADDRESS = "tcp://127.0.0.1:8786"
DASK = str(Path(sys.executable).parent / "dask")


class Cluster:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs = Programs(folder)
        self._programs.start(DASK, "scheduler", "--host=127.0.0.1", "--port=8786", "--no-dashboard")
        for _ in range(2):
            self.add_node()
        with Client(ADDRESS, timeout=HANGS) as client:
            client.wait_for_workers(2)

    def add_node(self) -> None:
        """Starts a nanny, which starts a worker. The worker has one slot."""
        self._programs.start(
            DASK, "worker", ADDRESS, "--host=127.0.0.1", "--nthreads=1", "--no-dashboard",
            f"--local-directory={self._folder}",
        )  # fmt: skip

    def stop(self) -> None:
        self._programs.stop()


@pytest.fixture(scope="module")
def cluster(recorded: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        # One worker after another dies in these tests, and each may have had the same task.
        patch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "10")
        patch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "300s")  # the machine may be busy
        patch.setenv("DASK_SCHEDULER_ADDRESS", ADDRESS)
        cluster = Cluster(tmp_path_factory.mktemp("dask"))
        yield cluster
        cluster.stop()


def start(job: Job) -> subprocess.Popen[str]:
    return example("dask_pack", job)


def worker(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    return ancestors[:1]


def node(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    """The nanny and its worker."""
    child, nanny = ancestors[0], next((p for p in ancestors if p.argv[1:3] == (DASK, "worker")), None)
    return [nanny, child] if nanny else []


def test_a_command_that_fails_runs_again(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    job = new_job()
    job.spoil("fails", 3)
    with Client(ADDRESS, timeout=HANGS) as client:
        assert dsconv.engines.dask.pack(job.plan, client, commit=False) is None
        assert job.attempts() == 17
        report = dsconv.engines.dask.pack(job.plan, client)
    assert report is not None and report.written == report.found > 0
    assert job.attempts() == 17  # nothing was missing
    assert_done(job, reference)


def test_a_command_that_fails_too_often(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    job = new_job()
    job.spoil("fails", 3)
    with Client(ADDRESS, timeout=HANGS) as client:
        with pytest.raises(dsconv.Error, match="shard 3 of 16: this attempt fails"):
            dsconv.engines.dask.pack(job.plan, client, retries=0)
        dsconv.engines.dask.pack(job.plan, client)
    assert_done(job, reference)


def test_workers_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("dask", "worker", new_job, reference, start, worker)


def test_nodes_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("dask", "node", new_job, reference, start, node, afterwards=cluster.add_node)


def test_drivers_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_drivers("dask", new_job, reference, start, driver_of)
