"""A Slurm cluster of two nodes on this machine, whose daemons can be killed."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

from processes import Process, kill, processes, wait_until

CONFIG = """\
ClusterName=dsconv
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
# A job is requeued only after the credentials of its last run have expired.
AuthInfo=socket={run}/munge.socket,cred_expire=5
CredType=cred/munge
PluginDir={plugins}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation={run}/state
SlurmdSpoolDir={run}/spool-%n
SlurmctldPidFile={run}/slurmctld.pid
SlurmdPidFile={run}/slurmd-%n.pid
SlurmctldLogFile={run}/slurmctld.log
SlurmdLogFile={run}/slurmd-%n.log
SlurmdTimeout=10
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=17001 CPUs=1 RealMemory=4000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=17002 CPUs=1 RealMemory=4000
PartitionName=all Nodes=n1,n2 Default=YES State=UP MaxTime=INFINITE
{more}
"""
NODES = ("n1", "n2")


class Cluster:
    """munged, slurmctld and a slurmd for each node. They stay in the foreground, as children of this process."""

    def __init__(self, root: Path, run: Path, more: str = "RequeueExit=75,137") -> None:
        self._root, self._run = root, run
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        plugins = next(root.glob("usr/lib/*/slurm-wlm"))
        self.environment = {
            **os.environ,
            "PATH": f"{root}/usr/bin:{root}/usr/sbin:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": f"{plugins}:{plugins.parent}",
            "SLURM_CONF": f"{run}/slurm.conf",
        }
        for name in ("state", "spool-n1", "spool-n2"):
            (run / name).mkdir(parents=True)
        text = CONFIG.format(host=socket.gethostname(), run=run, plugins=plugins, more=more)
        (run / "slurm.conf").write_text(text)
        (run / "munge.key").write_bytes(os.urandom(1024))
        (run / "munge.key").chmod(0o400)

    def __enter__(self) -> Cluster:
        give_loopback_an_address()
        try:
            self.start("munged")
            wait_until((self._run / "munge.socket").exists, "munged has started")
            for name in ("slurmctld", *NODES):
                self.start(name)
            wait_until(lambda: self.idle() == 2, "two nodes are idle")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in self._daemons.values():
            daemon.kill()
            daemon.wait()

    def start(self, name: str) -> None:
        """Starts munged, slurmctld, or the slurmd of a node; also after it was killed."""
        if name in self._daemons:
            self._daemons[name].wait()
        with open(self._run / f"{name}.out", "ab") as out:
            # In its folder, because slurmstepd may dump core when slurmctld was killed.
            self._daemons[name] = subprocess.Popen(
                self._program(name), cwd=self._run, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip

    def _program(self, name: str) -> list[str]:
        if name == "munged":
            files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
            # --force: others may look into the folder, which munged does not like.
            return ["munged", "--foreground", "--force", *(f"--{o}={self._run}/munge.{f}" for o, f in files.items())]
        if name in NODES:
            return ["slurmd-wlm", "-D", "-N", name, "-d", f"{self._root}/usr/sbin/slurmstepd-wlm"]
        return ["slurmctld-wlm", "-D"]

    def daemon(self, name: str, table: dict[int, Process]) -> Process:
        return table[self._daemons[name].pid]

    def run(self, *arguments: str) -> str | None:
        """What a command of Slurm prints; None if it fails, as while slurmctld is down."""
        done = subprocess.run(arguments, env=self.environment, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def idle(self) -> int:
        return int(self.run("sinfo", "-h", "-t", "idle", "-o", "%D") or 0)

    def is_down(self, node: str) -> bool:
        return "down" in (self.run("sinfo", "-h", "-n", node, "-o", "%T") or "")

    def is_empty(self) -> bool:
        """Reports whether no job runs or waits."""
        return self.run("squeue", "-h") == ""

    def clear(self) -> None:
        """Ends what an earlier test has left in the queue."""
        self.run("scancel", "--user=root")
        wait_until(self.is_empty, "the queue is empty")


def give_loopback_an_address() -> None:
    """Slurm finds addresses by getaddrinfo, which ignores IPv4 on a machine that has 127.0.0.1 alone."""
    assert [name for _, name in socket.if_nameindex()] == ["lo"], (
        "run this by lab/engines/run: it needs a network of its own"
    )
    subprocess.run(["ip", "address", "replace", "10.9.9.9/32", "dev", "lo"], check=True)


def node_of(process: Process) -> str:
    """The node that runs a process of a job."""
    environment = Path(f"/proc/{process.pid}/environ").read_bytes().decode().split("\0")
    return next(e for e in environment if e.startswith("SLURMD_NODENAME=")).partition("=")[2]


def kill_group(leader: Process) -> None:
    """Kills a process and all that it has started."""
    kill(p for p in processes().values() if p.pid == leader.pid or os.getpgid(p.pid) == leader.pid)
