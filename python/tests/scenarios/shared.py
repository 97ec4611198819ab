"""Helpers of the scenarios. A timer ends a process that hangs, and prints the stack of each thread."""

from __future__ import annotations

import faulthandler
import hashlib
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

faulthandler.dump_traceback_later(500, exit=True)
if "torch" not in os.environ.get("SCENARIO_IMPORTS", ""):
    sys.modules["torch"] = None  # type: ignore[assignment]  # its import takes seconds

import dsconv  # noqa: E402
import numpy as np  # noqa: E402

warnings.filterwarnings("ignore", "Python runs these transforms")

WORDS = "rrc:32,flip"
FEW = 20  # threads that Go starts while others wait in the kernel, and keeps
Batch = tuple  # of arrays


def loader(path: str, **more: Any) -> dsconv.Loader:
    options: dict[str, Any] = {"transforms": WORDS, "shuffle": True, "num_workers": 2, "fields": ("image", "index")}
    return dsconv.Loader(path, batch_size=8, **{**options, **more})


def digest(batches: Iterable[Batch]) -> str:
    """A hash of the batches."""
    h = hashlib.sha256()
    for images, index in batches:
        h.update(np.ascontiguousarray(images))
        h.update(np.ascontiguousarray(index))
    return h.hexdigest()


def expected(path: str, epoch: int = 0) -> str:
    with closing(loader(path)) as fresh:
        fresh.set_epoch(epoch)
        return digest(fresh)


def forked(work: Callable[[], Any]) -> Any:
    """The result of work in a forked process."""
    receiver, sender = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.alarm(550)  # the timer of the parent's is a thread, which is not inherited
            with os.fdopen(sender, "wb") as out:
                pickle.dump(work(), out)
            status = 0
        finally:
            os._exit(status)
    os.close(sender)
    with os.fdopen(receiver, "rb") as into:
        data = into.read()
    assert os.waitpid(pid, 0)[1] == 0
    return pickle.loads(data)


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def files() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident() -> int:
    """This process's memory without file mappings, in kB."""
    return sum(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("RssAnon"))
