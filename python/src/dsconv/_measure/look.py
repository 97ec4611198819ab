"""Looks into a torch DataLoader while it loads, by timers in its workers."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import slots
from .probe import Probe, probing


def is_dataloader(obj: Any) -> bool:
    """Reports whether obj is a DataLoader of torch's, or of a class that inherits from it."""
    return any(f"{c.__module__}.{c.__name__}" == "torch.utils.data.dataloader.DataLoader" for c in type(obj).__mro__)


class Look:
    """What the timers of a DataLoader's workers have found so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: list[slots.Measured] = []

    def workers(self) -> list[slots.Measured]:
        """One for each worker of each epoch."""
        if self._folder.exists():
            self._last = slots.read(self._folder)
        return self._last


@contextlib.contextmanager
def look(loader: Any, budget: float | None = None) -> Iterator[Look]:
    """Times the parts of a DataLoader's dataset in its workers, for the epochs that begin in this context.

    The batches stay the same: nothing is drawn, and what is called is the user's own code. Workers that stay from epoch
    to epoch are started anew. With no workers, the timers are in this process, and the end of the context removes them.

    Args:
        loader: the DataLoader. Its dataset may be any object.
        budget: the share of the workers' time that the timers may take; beyond it, some batches are not timed.
    """
    folder = Path(tempfile.mkdtemp(prefix="dsconv-measure-"))
    found = Look(folder)
    try:
        if loader.num_workers == 0:
            with _in_this_process(loader, folder, budget):
                yield found
        else:
            with _in_workers(loader, folder, budget):
                yield found
        found.workers()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _in_this_process(loader: Any, folder: Path, budget: float | None) -> Iterator[None]:
    collate = loader.collate_fn
    with probing(folder, loader.dataset, collate, budget) as probe:
        loader.collate_fn = probe.collate
        try:
            yield
        finally:
            loader.collate_fn = collate


@contextlib.contextmanager
def _in_workers(loader: Any, folder: Path, budget: float | None) -> Iterator[None]:
    start, collate = loader.worker_init_fn, loader.collate_fn
    _forget_workers(loader)
    loader.worker_init_fn = Start(str(folder), start, collate, budget)
    loader.collate_fn = Collate(collate)
    try:
        yield
    finally:
        loader.worker_init_fn, loader.collate_fn = start, collate
        _forget_workers(loader)


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
