"""Looks into a torch DataLoader while it loads, by timers in its workers."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .clock import overhead, replace
from .probe import Measured, Probe, read
from .walk import inherits


def is_dataloader(obj: Any) -> bool:
    """Reports whether obj is a DataLoader of torch's, or of a class that inherits from it."""
    return inherits(type(obj), "torch.utils.data.dataloader.DataLoader")


class Look:
    """What the timers of a DataLoader's workers have found so far."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dsconv-measure-"))
        self._last: list[Measured] = []
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def workers(self) -> list[Measured]:
        """One for each worker of each epoch."""
        if self.folder.exists():
            self._last = read(self.folder)
        return self._last

    def close(self) -> None:
        """Reads for the last time, and removes the files."""
        self.workers()
        self._remove()


@contextlib.contextmanager
def look(loader: Any, budget: float | None = None) -> Iterator[Look]:
    """Times the parts of a DataLoader's dataset in its workers, for the epochs that begin in this context.

    The batches stay the same: nothing is drawn, and what is called is the user's own code. Workers that stay from epoch
    to epoch are started anew. With no workers, the timers are in this process, and the end of the context removes them.

    Args:
        loader: the DataLoader. Its dataset may be any object.
        budget: the share of the workers' time that the timers may take; beyond it, some batches are not timed.
    """
    found = Look()
    loader._iterator = None
    try:
        with _timers(loader, found, budget):
            yield found
    finally:
        loader._iterator = None
        found.close()


@contextlib.contextmanager
def looked_at(loader: Any, found: Look, budget: float) -> Iterator[Iterator[Any]]:
    """An iterator of the DataLoader with timers, for the user's own loop: nothing is started anew. Workers that run
    already, as they stay from epoch to epoch, have no timers."""
    with contextlib.ExitStack() as timing:
        if getattr(loader, "_iterator", None) is None:
            timing.enter_context(_timers(loader, found, budget))
        iterator = iter(loader)
        if loader.num_workers > 0:
            timing.close()
        yield iterator


@contextlib.contextmanager
def _timers(loader: Any, found: Look, budget: float | None) -> Iterator[None]:
    """Iterators of the DataLoader that are made in this context have timers. With workers, they keep them; without, the
    end of the context removes them."""
    overhead()  # here, not in each worker of each epoch
    with contextlib.ExitStack() as undo:
        if loader.num_workers > 0:
            workers = _Workers(str(found.folder), loader.worker_init_fn, loader.collate_fn, budget)
            replace(undo, loader, "worker_init_fn", workers.start)
            replace(undo, loader, "collate_fn", workers.collate)
        else:
            probe = Probe(found.folder, os.getpid(), loader.dataset, loader.collate_fn, budget)
            replace(undo, loader, "collate_fn", undo.enter_context(contextlib.closing(probe)).collate)
        yield


class _Workers:
    """The worker_init_fn and the collate_fn of a DataLoader that is looked into: both call the user's."""

    def __init__(self, folder: str, start: Any, collate: Any, budget: float | None) -> None:
        self._folder, self._start, self._collate, self._budget = folder, start, collate, budget
        self._probe: Probe | None = None  # of this worker

    def start(self, worker: int) -> None:
        if self._start is not None:
            self._start(worker)
        from torch.utils.data import get_worker_info

        info = get_worker_info()
        if info is not None:
            self._probe = Probe(Path(self._folder), worker, info.dataset, self._collate, self._budget)

    def collate(self, samples: Any) -> Any:
        return self._collate(samples) if self._probe is None else self._probe.collate(samples)
