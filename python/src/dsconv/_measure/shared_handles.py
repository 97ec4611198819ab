"""Open files of a dataset, which processes that are forked from this one would share."""

from __future__ import annotations

import io
from typing import Any

from dsconv._reachable import reachable

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


def open_handle(dataset: Any) -> str:
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
