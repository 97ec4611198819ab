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

from . import slots
from .clock import overhead
from .probe import Probe


def is_dataloader(obj: Any) -> bool:
    """Reports whether obj is a DataLoader of torch's, or of a class that inherits from it."""
    return any(f"{c.__module__}.{c.__name__}" == "torch.utils.data.dataloader.DataLoader" for c in type(obj).__mro__)


class Look:
    """What the timers of a DataLoader's workers have found so far."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dsconv-measure-"))
        self._last: list[slots.Measured] = []
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def workers(self) -> list[slots.Measured]:
        """One for each worker of each epoch."""
        if self.folder.exists():
            self._last = slots.read(self.folder)
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
    _forget_workers(loader)
    try:
        with timers(loader, found, budget):
            yield found
    finally:
        _forget_workers(loader)
        found.close()


@contextlib.contextmanager
def timers(loader: Any, found: Look, budget: float | None) -> Iterator[None]:
    """Iterators of the DataLoader that are made in this context have timers. With workers, they keep them; without, the
    end of the context removes them."""
    start, collate = loader.worker_init_fn, loader.collate_fn
    overhead()  # here, not in each worker of each epoch
    try:
        if loader.num_workers > 0:
            loader.worker_init_fn = Start(str(found.folder), start, collate, budget)
            loader.collate_fn = Collate(collate)
            yield
            return
        with contextlib.closing(Probe(found.folder, os.getpid(), loader.dataset, collate, budget)) as probe:
            loader.collate_fn = probe.collate
            yield
    finally:
        loader.worker_init_fn, loader.collate_fn = start, collate


@contextlib.contextmanager
def looked_at(loader: Any, found: Look, budget: float) -> Iterator[Iterator[Any]]:
    """An iterator of the DataLoader with timers, for the user's own loop: nothing is started anew. Workers that run
    already have no timers."""
    if loader.num_workers > 0:
        running = getattr(loader, "_iterator", None) is not None  # workers that stay from epoch to epoch
        with contextlib.nullcontext() if running else timers(loader, found, budget):
            iterator = iter(loader)
        yield iterator
        return
    with timers(loader, found, budget):
        yield iter(loader)


def _forget_workers(loader: Any) -> None:
    """Ends workers that would stay for the next epoch."""
    if getattr(loader, "_iterator", None) is not None:
        loader._iterator = None


_probe: Probe | None = None  # of this worker


class Start:
    """The worker_init_fn of a DataLoader that is looked into: it calls the user's one first."""

    def __init__(self, folder: str, start: Any, collate: Any, budget: float | None) -> None:
        self._folder, self._start, self._collate, self._budget = folder, start, collate, budget

    def __call__(self, worker: int) -> None:
        global _probe
        if self._start is not None:
            self._start(worker)
        from torch.utils.data import get_worker_info

        info = get_worker_info()
        if info is None:
            return
        _probe = Probe(Path(self._folder), worker, info.dataset, self._collate, self._budget)
        _probe.count_sending()


class Collate:
    """The collate_fn of a DataLoader that is looked into."""

    def __init__(self, collate: Any) -> None:
        self._collate = collate

    def __call__(self, samples: Any) -> Any:
        return self._collate(samples) if _probe is None else _probe.collate(samples)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_collate":
            raise AttributeError(name)
        return getattr(self._collate, name)
