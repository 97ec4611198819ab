"""Shards packed by Spark's own cluster manager: a master, and two workers that run one executor with one slot each.

The workers have different addresses, because Spark does not put the second copy of a slow task on the first one's host.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import dsconv.engines.spark
import pyspark
import pytest
from cluster import Programs, driver_of, example
from job import Job
from processes import Process, Unit, processes, wait_until
from pyspark.sql import SparkSession
from rounds import assert_done, kill_drivers, kill_workers

HOME = Path(pyspark.__file__).parent
ADDRESS = "spark://127.0.0.1:7077"
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
WORKER = "org.apache.spark.deploy.worker.Worker"

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # starts with half the work

SETTINGS = f"""
spark.master {ADDRESS}
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.driver.memory 512m
spark.executor.memory 512m
spark.driver.extraJavaOptions {JAVA}
spark.executor.extraJavaOptions {JAVA}
spark.ui.enabled false
spark.speculation true
spark.speculation.multiplier 1.5
spark.speculation.quantile 0.5
"""


class Cluster:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs = Programs(folder)
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._class("127.0.0.1", "org.apache.spark.deploy.master.Master", "--port", "7077", "--webui-port", "8180")
        for host in ("127.0.0.2", "127.0.0.3"):
            self._add_worker(host)

    def add_node(self) -> None:
        """Starts a worker in the place of one that was killed."""
        dead = []
        wait_until(lambda: dead.extend(h for h, w in self._workers.items() if w.poll() is not None) or dead, "it ends")
        self._add_worker(dead[0])

    def stop(self) -> None:
        self._programs.stop()

    def _add_worker(self, host: str) -> None:
        worker = ("-c", "1", "-m", "600m", "--webui-port", "0", "-d", str(self._folder / host), ADDRESS)
        self._workers[host] = self._class(host, WORKER, *worker)

    def _class(self, host: str, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": JAVA,
        }
        return self._programs.start(
            str(HOME / "bin" / "spark-class"), name, "--host", host, *arguments, environment=environment
        )


@pytest.fixture(scope="module")
def cluster(recorded: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text(SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(HOME))
        patch.setenv("SPARK_CONF_DIR", str(folder))
        cluster = Cluster(folder)
        yield cluster
        cluster.stop()


@pytest.fixture
def session(cluster: Cluster) -> Iterator[SparkSession]:
    """A session that ends with its test: while it lasts, no other program gets an executor."""
    session = SparkSession.builder.appName("test").getOrCreate()
    yield session
    session.stop()


def start(job: Job) -> subprocess.Popen[str]:
    return example("spark_pack", job)


def python_worker(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    return [p for p in ancestors[:1] if "pyspark.daemon" in p.argv]


def executor(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    return [p for p in ancestors if EXECUTOR in p.argv]


def node(_: Unit, ancestors: list[Process], __: dict[int, Process]) -> list[Process]:
    return [p for p in ancestors if WORKER in p.argv or EXECUTOR in p.argv][::-1]


def test_a_command_that_fails_runs_again(session: SparkSession, new_job: Callable[[], Job], reference: Path) -> None:
    job = new_job()
    job.spoil("fails", 3)
    assert dsconv.engines.spark.pack(job.plan, session, commit=False) is None
    attempts = job.attempts()
    assert attempts >= 17
    report = dsconv.engines.spark.pack(job.plan, session.sparkContext)
    assert report is not None and report.written == report.found > 0
    assert job.attempts() == attempts  # nothing was missing
    assert_done(job, reference)


def test_a_straggler_is_packed_a_second_time(
    session: SparkSession, new_job: Callable[[], Job], reference: Path
) -> None:
    """The first attempt at a shard would never end. Its copy ends the job, and Spark stops the first."""
    job = new_job()
    job.spoil("straggles", 9)
    dsconv.engines.spark.pack(job.plan, session)
    assert job.attempts_at(9) == 2
    wait_until(lambda: not [p for p in processes().values() if p.argv == ("cat",)], "the straggler has ended")
    assert_done(job, reference)


def test_python_workers_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("spark", "python worker", new_job, reference, start, python_worker)


def test_executors_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("spark", "executor", new_job, reference, start, executor)


def test_nodes_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_workers("spark", "node", new_job, reference, start, node, afterwards=cluster.add_node)


def test_drivers_are_killed(cluster: Cluster, new_job: Callable[[], Job], reference: Path) -> None:
    kill_drivers("spark", new_job, reference, start, driver_of)
