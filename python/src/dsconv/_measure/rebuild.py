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
from dsconv._short_messages import named, shown

# The settings that can be changed, in the order in which they are shown.
SETTINGS = ("num_workers", "prefetch_factor", "pin_memory", "persistent_workers")

# Classes of other libraries whose open objects must not cross a fork, by their module and name.
_HANDLES = {
    ("h5py", "File"): "h5py File",
    ("h5py", "Group"): "h5py Group",
    ("h5py", "Dataset"): "h5py Dataset",
    ("lmdb", "Environment"): "LMDB environment",
    ("lmdb", "Transaction"): "LMDB transaction",
    ("sqlite3", "Connection"): "sqlite3 connection",
    ("zipfile", "ZipFile"): "ZipFile",
    ("tarfile", "TarFile"): "TarFile",
}
# Memory, not files.
_IN_MEMORY = (io.BytesIO, io.StringIO)


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
    _check_workers(loader, new["num_workers"])
    clone: DataLoader[Any] = copy.copy(loader)
    vars(clone).update(new, _iterator=None)  # else they would share persistent workers
    return clone


def close(loader: DataLoader[Any]) -> None:
    """Ends the workers of a rebuilt DataLoader, if it keeps any."""
    iterator = vars(loader).get("_iterator")
    if iterator is not None:
        vars(loader)["_iterator"] = None
        end = getattr(iterator, "_shutdown_workers", None)
        if end is not None:
            end()


def _check_loader(loader: DataLoader[Any]) -> None:
    attributes = vars(loader)
    kind = type(loader).__name__
    if "num_workers" not in attributes:
        inner = next((name for name, value in attributes.items() if isinstance(value, DataLoader)), None)
        instead = f"pass its {inner}" if inner else "pass a torch.utils.data.DataLoader"
        raise CannotRebuild(f"{kind} wraps another loader and has no settings of its own: {instead}")
    for name, value in attributes.items():
        if name == "_iterator" or not isinstance(value, Iterator):
            continue
        if name in ("sampler", "batch_sampler"):
            raise CannotRebuild(f"{name}={shown(value)} gives its samples only once: pass a list or a Sampler")
        raise CannotRebuild(
            f"{kind} keeps an iterator of its own ({name}), whose settings cannot be changed: "
            "pass the torch.utils.data.DataLoader that it is made from"
        )


def _check_workers(loader: DataLoader[Any], workers: int) -> None:
    """Raises CannotRebuild if with this number of workers the samples would be others, or none would come."""
    if workers == loader.num_workers:
        return
    setting = f"num_workers={workers}"
    if workers == 0:
        if loader.timeout:
            raise CannotRebuild(f"{setting}: timeout={loader.timeout} needs workers")
        if loader.multiprocessing_context is not None:
            raise CannotRebuild(f"{setting}: multiprocessing_context needs workers")
        if loader.worker_init_fn is not None:
            raise CannotRebuild(f"{setting}: nothing would call worker_init_fn={named(loader.worker_init_fn)}")
    if loader.num_workers == 0:
        handle = _open_handle(loader.dataset)
        if handle:
            raise CannotRebuild(f"{setting}: {handle}, and workers would share it: open it in each worker")
    if isinstance(loader.dataset, IterableDataset) and max(workers, loader.num_workers) > 1:
        raise CannotRebuild(
            f"{setting}: {type(loader.dataset).__name__} is iterable and divides its samples among workers by itself, "
            "so their number may depend on num_workers"
        )


def _open_handle(dataset: Any) -> str:
    """What the dataset holds open, as "the dataset has an open ... (its path)"; "" for nothing.

    Two processes that read through the same handle move each other's position in the file, or read what the other
    one's cache holds.
    """
    for path, value in reachable((dataset,)):
        kind = _kind(value)
        if kind:
            attribute = path.partition(".")[2]
            return f"the dataset has an open {kind}" + (f" ({attribute})" if attribute else "")
    return ""


def _kind(value: Any) -> str:
    if isinstance(value, io.IOBase) and not isinstance(value, _IN_MEMORY):
        return "" if value.closed or _is_standard(value) else "file"
    for cls in type(value).__mro__:
        name = (str(cls.__module__).partition(".")[0], cls.__name__)
        if name in _HANDLES:
            return _HANDLES[name]
    return ""


def _is_standard(file: io.IOBase) -> bool:
    """Reports whether it is standard input, output or error, which processes share on purpose."""
    try:
        return file.fileno() <= 2
    except (OSError, ValueError):  # it has no number
        return True
