"""Flink on this machine, with Beam's job server: one JobManager, and TaskManagers with one slot each."""

from __future__ import annotations

import json
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from cluster import Programs
from processes import wait_until

REST, JOB_SERVER = "localhost:8081", "localhost:8099"

# Flink's own scripts compute the sizes of memory; started by hand it must be told.
CONFIGURATION = """
jobmanager.rpc.address: localhost
jobmanager.bind-host: localhost
rest.address: localhost
rest.bind-address: localhost
rest.port: 8081
taskmanager.host: localhost
taskmanager.bind-host: localhost
taskmanager.numberOfTaskSlots: 1
taskmanager.cpu.cores: 1.0
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 128m
taskmanager.memory.task.heap.size: 256m
taskmanager.memory.task.off-heap.size: 0m
taskmanager.memory.managed.size: 128m
taskmanager.memory.network.min: 64m
taskmanager.memory.network.max: 64m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 192m
taskmanager.memory.jvm-overhead.max: 192m
# By default a job without checkpoints is not restarted.
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 20
restart-strategy.fixed-delay.delay: 1 s
heartbeat.interval: 1000
# Java is slow to start and to answer where many programs share few cores. A killed process is noticed all the same:
# its connections are refused.
heartbeat.timeout: 60000
slot.request.timeout: 1800000
taskmanager.registration.timeout: 30 min
pekko.ask.timeout: 60 s
pekko.tcp.timeout: 60 s
pekko.startup-timeout: 300 s
client.timeout: 300 s
web.timeout: 300000
"""

# What Flink reaches into, on Java 17.
OPENED = (
    "lang", "lang.reflect", "net", "io", "nio", "text", "time", "util", "util.concurrent",
    "util.concurrent.atomic", "util.concurrent.locks",
)  # fmt: skip


class Flink:
    def __init__(self, folder: Path, jars: Path, task_managers: int = 2) -> None:
        self._jars, self._task_managers = jars, task_managers
        self._programs = Programs(folder)
        self._configuration = folder / "conf"
        self._configuration.mkdir()
        (self._configuration / "flink-conf.yaml").write_text(f"{CONFIGURATION}\nio.tmp.dirs: {folder}\n")
        self._add_job_manager()
        for _ in range(task_managers):
            self.add_task_manager()
        self._java(
            "org.apache.beam.runners.flink.FlinkJobServerDriver", f"--flink-master={REST}", "--job-host=localhost",
            "--job-port=8099", "--artifact-port=8098", "--expansion-port=8097", f"--artifacts-dir={folder}/artifacts",
        )  # fmt: skip
        self._wait_for_task_managers()
        wait_until(lambda: _is_open(JOB_SERVER), "the job server is there")

    def replace_job_manager(self) -> None:
        """Starts another for one that was killed. Until the TaskManagers have found it, a new job fails."""
        self._add_job_manager()
        self._wait_for_task_managers()

    def add_task_manager(self) -> None:
        self._flink(
            "org.apache.flink.runtime.taskexecutor.TaskManagerRunner", "-Xmx384m", "-XX:MaxDirectMemorySize=192m"
        )

    def stop(self) -> None:
        self._programs.stop()

    def _add_job_manager(self) -> None:
        self._flink("org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint", "-Xmx600m")

    def _wait_for_task_managers(self) -> None:
        count = self._task_managers
        wait_until(lambda: len(self._ask("taskmanagers", "taskmanagers")) == count, "the TaskManagers are there")

    def _ask(self, path: str, key: str) -> list[dict[str, str]]:
        """What the JobManager's REST interface tells, nothing while there is none."""
        try:
            with urllib.request.urlopen(f"http://{REST}/{path}", timeout=60) as answer:
                found: list[dict[str, str]] = json.load(answer)[key]
                return found
        except (OSError, urllib.error.URLError, KeyError):
            return []

    def _flink(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        return self._java(*options, program, "--configDir", str(self._configuration))

    def _java(self, *arguments: str) -> subprocess.Popen[bytes]:
        opened = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in OPENED]
        # Quick to start, which matters more here than quick to run.
        quick = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        return self._programs.start("java", *quick, *opened, "-cp", f"{self._jars}/*", *arguments)


def _is_open(address: str) -> bool:
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), 60).close()
    except OSError:
        return False
    return True
