"""A Slurm cluster of two nodes on this machine, whose daemons can be killed."""

import os
import pathlib
import signal
import socket
import subprocess
import time

import processes

CONFIG = """\
ClusterName=dsconv
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
# A task is run again only after the credentials of its last run have expired.
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
MaxArraySize={max_array}
{requeue}
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=17001 CPUs=1 RealMemory=4000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=17002 CPUs=1 RealMemory=4000
PartitionName=all Nodes=n1,n2 Default=YES State=UP MaxTime=INFINITE
"""
NODES = ("n1", "n2")


class Cluster:
    """munged, slurmctld and a slurmd for each node. They run in the foreground, as children of this process."""

    def __init__(self, root, run, requeue="RequeueExit=75,137", max_array=1001):
        self.run = pathlib.Path(run)
        library = next(pathlib.Path(root).glob("usr/lib/*/slurm-wlm"))
        self.environ = {
            **os.environ,
            "PATH": f"{root}/usr/bin:{root}/usr/sbin:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": f"{library}:{library.parent}",
            "SLURM_CONF": f"{run}/slurm.conf",
        }
        self.stepd = f"{root}/usr/sbin/slurmstepd-wlm"
        self.daemons = {}
        for name in ("state", "spool-n1", "spool-n2"):
            (self.run / name).mkdir(parents=True)
        (self.run / "slurm.conf").write_text(
            CONFIG.format(host=socket.gethostname(), run=run, plugins=library, requeue=requeue, max_array=max_array)
        )
        (self.run / "munge.key").write_bytes(os.urandom(1024))
        (self.run / "munge.key").chmod(0o400)

    def __enter__(self):
        try:
            self.start_munged()
            self.start("slurmctld")
            for node in NODES:
                self.start(node)
            wait(lambda: self.output("sinfo", "-h", "-t", "idle", "-o", "%D") == "2", "two idle nodes")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        processes.kill_all([d.pid for d in self.daemons.values()])
        for daemon in self.daemons.values():
            daemon.wait()

    def start_munged(self):
        files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log"}
        options = [f"--{option}={self.run}/{name}" for option, name in files.items()]
        # --force: the folder may belong to another user than munged expects.
        self.popen("munged", ["munged", "--foreground", "--force", f"--seed-file={self.run}/munge.seed", *options])
        wait((self.run / "munge.socket").exists, "munged")

    def start(self, name):
        """Starts slurmctld, or the slurmd of a node."""
        program = ["slurmctld-wlm", "-D"]
        if name in NODES:
            program = ["slurmd-wlm", "-D", "-N", name, "-d", self.stepd]
        self.popen(name, program)

    def popen(self, name, arguments):
        with open(self.run / f"{name}.out", "ab") as out:
            self.daemons[name] = subprocess.Popen(
                arguments, env=self.environ, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    def kill(self, name):
        """Ends a daemon by SIGKILL."""
        self.daemons[name].send_signal(signal.SIGKILL)
        self.daemons[name].wait()

    def kill_node(self, node, everything):
        """Ends a node's slurmd and slurmstepd. Without everything, the tasks' own processes go on: a node that is cut off."""
        tasks = [p for p in processes.all() if p.environ.get("SLURMD_NODENAME") == node]
        stepds = {p.parent for p in tasks} & {p.pid for p in processes.all() if "slurmstepd" in p.arguments[0]}
        self.kill(node)
        processes.kill_all([*stepds, *(p.pid for p in tasks if everything)])

    def output(self, *arguments):
        """What a command of Slurm prints; None if it fails, as while slurmctld is down."""
        done = subprocess.run(arguments, env=self.environ, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None


def wait(condition, what, seconds=600):
    """Waits until the condition holds. The limit only detects a hang."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.1)
