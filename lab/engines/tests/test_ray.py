"""Shards packed by a Ray cluster: a head that runs no task, and two nodes with one slot each."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import dsconv
import dsconv.engines.ray
import pytest
import ray
from cluster import driver_of, example
from job import Job
from processes import Process, Unit
from rounds import assert_done, kill_drivers, kill_workers

ADDRESS = "127.0.0.1:6379"
COMMON = ("--node-ip-address=127.0.0.1", "--object-store-memory=100000000", "--disable-usage-stats")


class Cluster:
    def __init__(self, folder: Path) -> None:
        # Sockets lie in this folder: its path must be short.
        ray_start("--head", "--port=6379", "--num-cpus=0", "--include-dashboard=false", f"--temp-dir={folder}")
        for _ in range(2):
            self.add_node()

    def add_node(self) -> None:
        ray_start(f"--address={ADDRESS}", "--num-cpus=1")

    def stop(self) -> None:
        subprocess.run(["ray", "stop", "--force"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ray_start(*arguments: str) -> None:
    done = subprocess.run(
        ["ray", "start", *COMMON, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def cluster(recorded: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", ADDRESS)
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_raylet_start_wait_time_s", "300")  # the machine may be busy
        patch.setenv("RAY_health_check_timeout_ms", "60000")
        cluster = Cluster(tmp_path_factory.getbasetemp().parent / "r")
        yield cluster
        cluster.stop()


@pytest.fixture
def connection(cluster: Cluster) -> Iterator[None]:
    """A connection of the tests' own process. `pack` uses it as it would a user's."""
    ray.init(address=ADDRESS, _node_ip_address="127.0.0.1", log_to_driver=False)
    yield
    ray.shutdown()


def start(job: Job) -> subprocess.Popen[str]:
    return example("ray_pack", job)


def worker(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    return ancestors[:1]


def node(_: Unit, ancestors: list[Process], table: dict[int, Process]) -> list[Process]:
    """The raylet with its children: all of a node's processes but the units."""
    raylet = next((p for p in ancestors if p.argv[0].endswith("/raylet")), None)
    return [raylet, *(p for p in table.values() if p.parent == raylet.pid)] if raylet else []


def test_a_command_that_fails_runs_again(
    cluster: Cluster, connection: None, new_job: Callable[[], Job], reference: Path
) -> None:
    job = new_job()
    job.spoil("fails", 3)
    assert dsconv.engines.ray.pack(job.plan, commit=False, in_flight=3) is None
    assert job.attempts() == 17
    report = dsconv.engines.ray.pack(job.plan)
    assert report is not None and report.written == report.found > 0
    assert job.attempts() == 17  # nothing was missing
    assert_done(job, reference)


def test_a_command_that_fails_too_often(
    cluster: Cluster, connection: None, new_job: Callable[[], Job], reference: Path
) -> None:
    job = new_job()
    job.spoil("fails", 3)
    with pytest.raises(dsconv.Error, match="shard 3 of 16: this attempt fails"):
        dsconv.engines.ray.pack(job.plan, retries=0)
    dsconv.engines.ray.pack(job.plan)
    assert_done(job, reference)


def test_workers_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("ray", "worker", new_job, reference, start, worker)


def test_nodes_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("ray", "node", new_job, reference, start, node, afterwards=cluster.add_node)


def test_drivers_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_drivers("ray", new_job, reference, start, driver_of)
