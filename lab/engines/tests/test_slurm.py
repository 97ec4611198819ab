"""Shards packed by examples/scale/slurm on a Slurm cluster of two nodes."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from job import SHARDS, Job, record
from killer import Victims
from processes import Process, Unit, processes, wait_until
from rounds import KILLS, KILLS_OF_A_JOB, assert_done, finish, kill_workers
from slurm_cluster import Cluster, kill_group, node_of
from usercopy import copy, forget_plan, unpublished

# Counts the units that start.
pytestmark = pytest.mark.usefixtures("recorded")

# What a user does: submits, and submits again if the dataset is not there when the queue is empty. A slurmctld that is
# killed forgets what it did in its last seconds, and may start a task twice; then Slurm drains the node. Slurm holds a
# task whose node or slurmctld dies while it is started. The administrator and the user let both go on.
USER = """
let_go_on() {
  for node in $(sinfo -h -N -t drain -o %N); do scontrol update nodename="$node" state=resume; done
  for task in $(squeue -h -r -o '%i %r' | awk '/[Hh]eld/ { print $1 }'); do scontrol release "$task"; done
}
for attempt in 1 2 3 4 5; do
  ./submit.sh
  until queue=$(squeue -h) && [ -z "$queue" ]; do
    let_go_on || true
    sleep 0.5
  done
  if [ ! -e "$1" ]; then exit 0; fi
done
exit 1
"""


@pytest.fixture
def new_cluster() -> Iterator[Callable[..., Cluster]]:
    """Starts a cluster. It is stopped after the test. Its folder has a short path, because sockets in it must."""
    started: list[Cluster] = []

    def new(**options: str) -> Cluster:
        root = Path(os.environ["DSCONV_ENGINE"]).resolve() / "root"
        started.append(Cluster(root, Path(tempfile.mkdtemp()), **options))
        return started[-1].__enter__()

    yield new
    for cluster in started:
        cluster.__exit__()


def scripts(job: Job, **settings: object) -> Path:
    """The user's copy of the scripts for a job; returns submit.sh."""
    return copy("slurm", job, "submit.sh", **settings)


def user(cluster: Cluster, job: Job, **settings: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", "-ec", USER, "user", str(unpublished(job))], cwd=scripts(job, **settings).parent,
        env=cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def logs(job: Job, kind: str) -> str:
    return "".join(p.read_text() for p in sorted(scripts(job).parent.glob(f"logs/{kind}-*.log")))


def test_a_task_packs_several_shards(
    new_cluster: Callable[..., Cluster], new_job: Callable[[], Job], reference: Path
) -> None:
    cluster, job = new_cluster(), new_job()
    forget_plan(job)
    finish(user(cluster, job, tasks=5))
    assert_done(job, reference)
    assert len(list(scripts(job).parent.glob("logs/pack-*.log"))) == 5
    assert logs(job, "pack").count("restarts: 0") == SHARDS
    finish(user(cluster, job))  # again: nothing is packed
    assert logs(job, "pack").count("restarts: ") == SHARDS
    assert_done(job, reference)


def test_shards_that_stay_missing(
    new_cluster: Callable[..., Cluster], new_job: Callable[[], Job], reference: Path, tmp_path: Path
) -> None:
    """The queue is empty, and the dataset is not there: the commit job says why, after the last round too."""
    job, program = new_job(), tmp_path / "bin" / "dsconv"
    program.parent.mkdir()
    program.write_text(f"""#!/bin/sh
if [ "$2" = pack ] && [ "$4" = 3 ]; then echo "this node has a bad disk" >&2; exit 1; fi
exec {shlex.quote(str(shutil.which("dsconv")))} "$@"
""")
    program.chmod(0o755)
    cluster = new_cluster()
    cluster.environment["PATH"] = f"{program.parent}:{cluster.environment['PATH']}"
    subprocess.run([scripts(job, rounds=2)], env=cluster.environment, check=True)
    wait_until(cluster.is_empty, "the queue is empty")
    assert unpublished(job).exists()
    assert job.missing() == [3]
    assert "missing after round 2 of 2: shards 3\n" in logs(job, "commit")
    assert logs(job, "pack").count("this node has a bad disk") == 2
    assert not list(job.output.glob("*.tar"))
    program.unlink()
    finish(user(cluster, job))
    assert_done(job, reference)


def process(unit: Unit, _: list[Process], __: dict[int, Process]) -> list[Process]:
    return [unit.process]


def script(unit: Unit, ancestors: list[Process], _: dict[int, Process]) -> list[Process]:
    """The batch script. Where Slurm tracks processes by their parents, as here, its dsconv goes on to the end."""
    assert "slurm_script" in ancestors[0].argv[1], ancestors[0]
    return ancestors[:1]


def task(unit: Unit, ancestors: list[Process], table: dict[int, Process]) -> list[Process]:
    """The batch script and its dsconv, as where Slurm tracks processes by cgroups."""
    return [*script(unit, ancestors, table), unit.process]


def test_dsconv_is_killed(new_cluster: Callable[..., Cluster], new_job: Callable[[], Job], reference: Path) -> None:
    cluster = new_cluster()

    def check(job: Job) -> subprocess.Popen[str]:
        return user(cluster, job, rounds=1)

    # RequeueExit: one round is enough.
    kill_workers("slurm", "dsconv", new_job, reference, check, process)


def test_dsconv_is_killed_without_requeue_exit(
    new_cluster: Callable[..., Cluster], new_job: Callable[[], Job], reference: Path
) -> None:
    cluster = new_cluster(more="")
    kill_workers("slurm", "dsconv, no RequeueExit", new_job, reference, lambda job: user(cluster, job), process)


@pytest.mark.parametrize(("kind", "victims"), [("batch script", script), ("task", task)])
def test_tasks_are_killed(
    new_cluster: Callable[..., Cluster], new_job: Callable[[], Job], reference: Path, kind: str, victims: Victims
) -> None:
    cluster = new_cluster()
    kill_workers("slurm", kind, new_job, reference, lambda job: user(cluster, job), victims)


@pytest.mark.parametrize("cut_off", [False, True])
def test_nodes_are_killed(
    new_cluster: Callable[..., Cluster], new_job: Callable[[], Job], reference: Path, cut_off: bool
) -> None:
    """A node dies, or is cut off: slurmd and slurmstepd are gone, but the unit goes on beside the next attempt."""
    cluster, dead = new_cluster(), []

    def node(unit: Unit, ancestors: list[Process], table: dict[int, Process]) -> list[Process]:
        dead.append(node_of(unit.process))
        stepd = next(p for p in ancestors if "slurmstepd" in p.argv[0])
        ours = [] if cut_off else [*ancestors[: ancestors.index(stepd)], unit.process]
        return [cluster.daemon(dead[-1], table), stepd, *ours]

    def restart() -> None:
        if random.random() < 0.5:  # else it is back before slurmctld has missed it
            wait_until(lambda: cluster.is_down(dead[-1]), "slurmctld has noticed")
        cluster.start(dead[-1])

    kind = "node cut off" if cut_off else "node"
    kill_workers("slurm", kind, new_job, reference, lambda job: user(cluster, job), node, afterwards=restart)


def test_slurmctld_is_killed(new_cluster: Callable[..., Cluster], new_job: Callable[[], Job], reference: Path) -> None:
    cluster = new_cluster()

    def slurmctld(_: Unit, __: list[Process], table: dict[int, Process]) -> list[Process]:
        return [cluster.daemon("slurmctld", table)]

    kill_workers(
        "slurm", "slurmctld", new_job, reference, lambda job: user(cluster, job), slurmctld,
        afterwards=lambda: cluster.start("slurmctld"),
    )  # fmt: skip


def test_submit_is_killed(new_cluster: Callable[..., Cluster], new_job: Callable[[], Job], reference: Path) -> None:
    """submit.sh dies while it plans or submits, with all that it has started, and is started again."""
    cluster, done = new_cluster(), 0
    while done < KILLS:
        job = new_job()
        forget_plan(job)
        kills = [kill_submit(cluster, job) for _ in range(KILLS_OF_A_JOB)]
        finish(user(cluster, job))
        seconds = job.seconds()
        assert_done(job, reference)
        record("slurm", test="submit.sh killed", seconds=seconds, kills=kills)
        job.remove()
        done += len(kills)


def kill_submit(cluster: Cluster, job: Job) -> dict[str, object]:
    while True:
        submit = subprocess.Popen([scripts(job)], env=cluster.environment, start_new_session=True)
        time.sleep(random.uniform(0, 1))
        state = {"planned": job.plan.exists(), "jobs": len((cluster.run("squeue", "-h") or "").splitlines())}
        leader = processes().get(submit.pid)
        if leader is not None:
            kill_group(leader)
        if submit.wait() == -9:
            return {"time": round(time.time(), 2), "kind": "submit.sh", "pid": submit.pid, **state}
        cluster.clear()  # it was faster
