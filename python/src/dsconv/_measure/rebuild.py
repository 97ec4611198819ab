"""A user's DataLoader again, with other settings: the same samples, prepared in the same way.

The rebuilt DataLoader is a shallow copy. So it has whatever the user's has, also what a subclass or a later torch adds:
the dataset, sampler, collate_fn, worker_init_fn, the start method, the timeout. A setting with which other samples
would come out, or none, is refused by an error that names it.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator
from typing import Any

from torch.utils.data import DataLoader, IterableDataset

from dsconv._errors import ArgumentError
from dsconv._reachable import reachable
from dsconv._short_messages import named

from .rows import SETTINGS

# Classes of other libraries whose open objects must not cross a fork.
_HANDLES = {
    "h5py.File", "h5py.Group", "h5py.Dataset", "lmdb.Environment", "lmdb.Transaction", "sqlite3.Connection",
    "zipfile.ZipFile", "tarfile.TarFile",
}  # fmt: skip


class CannotRebuild(ArgumentError):
    """A DataLoader cannot have this setting without giving other samples, or fails with it."""


def settings(loader: DataLoader[Any]) -> dict[str, Any]:
    """The values of a DataLoader's SETTINGS."""
    return {name: getattr(loader, name) for name in SETTINGS}


def rebuilt(loader: DataLoader[Any], **changes: Any) -> DataLoader[Any]:
    """A DataLoader that gives loader's samples, with changes to its SETTINGS.

    With num_workers=0, prefetch_factor and persistent_workers, which need workers, are left out. With workers that
    loader does not have they are torch's defaults. Raises CannotRebuild for a setting that would change the samples.
    """
    _check_loader(loader)
    new = {**settings(loader), **changes}
    if not new["num_workers"]:
        new.update(prefetch_factor=None, persistent_workers=False)
    elif new["prefetch_factor"] is None:
        new["prefetch_factor"] = 2
    if new["num_workers"] != loader.num_workers:
        _check_workers(loader, new["num_workers"])
    clone: DataLoader[Any] = copy.copy(loader)
    vars(clone).update(new, _iterator=None)  # else they would share persistent workers
    return clone


def _check_loader(loader: DataLoader[Any]) -> None:
    attributes, kind = vars(loader), type(loader).__name__
    if "num_workers" not in attributes:
        inner = next((name for name, value in attributes.items() if isinstance(value, DataLoader)), None)
        instead = f"pass its {inner}" if inner else "pass a torch.utils.data.DataLoader"
        raise CannotRebuild(f"{kind} wraps another loader and has no settings of its own: {instead}")
    for name, value in attributes.items():
        if name != "_iterator" and isinstance(value, Iterator):
            raise CannotRebuild(
                f"{kind} keeps an iterator ({name}), which gives its samples only once: pass a list or a Sampler, or "
                "the torch.utils.data.DataLoader that it is made from"
            )


def _check_workers(loader: DataLoader[Any], workers: int) -> None:
    """Raises CannotRebuild if with this number of workers the samples would be others, or none would come."""
    why = ""
    if isinstance(loader.dataset, IterableDataset) and max(workers, loader.num_workers) > 1:
        why = (
            f"{type(loader.dataset).__name__} is iterable and divides its samples among workers by itself, "
            "so their number may depend on num_workers"
        )
    elif workers == 0 and loader.timeout:
        why = f"timeout={loader.timeout} needs workers"
    elif workers == 0 and loader.multiprocessing_context is not None:
        why = "multiprocessing_context needs workers"
    elif workers == 0 and loader.worker_init_fn is not None:
        why = f"nothing would call worker_init_fn={named(loader.worker_init_fn)}"
    elif loader.num_workers == 0 and (handle := _open_handle(loader.dataset)):
        why = f"the dataset has an open {handle}, and workers would share it: open it in each worker"
    if why:
        raise CannotRebuild(f"num_workers={workers}: {why}")


def _open_handle(dataset: Any) -> str:
    """What the dataset holds open, with its path in it; "" for nothing.

    Two processes that read through the same handle move each other's position in the file, or read what the other
    one's cache holds.
    """
    for path, value in reachable((dataset,)):
        names = [f"{c.__module__.partition('.')[0]}.{c.__name__}" for c in type(value).__mro__]
        if kind := "file" if _is_open_file(value) else next((name for name in names if name in _HANDLES), ""):
            attribute = path.partition(".")[2]
            return f"{kind} ({attribute})" if attribute else kind
    return ""


def _is_open_file(value: Any) -> bool:
    """Reports whether it is an open file, but none of the standard ones, which processes share on purpose."""
    try:
        return isinstance(value, io.IOBase) and value.fileno() > 2
    except Exception:  # it is closed, or in memory
        return False
