"""Loads the C library (libdsconv.so), once in each process, and calls it."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import mmap
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import BY_KIND, Error
from ._short_messages import cut

Pointer = ctypes.c_void_p
Int = ctypes.c_int64


class BatchInfo(ctypes.Structure):
    """The description of a batch that dsconv_next writes: see internal/capi/batch.h."""

    _fields_ = [("images", Pointer), ("n", Int), ("end", Int), ("skipped", Int), ("substituted", Int)]


class RestInfo(ctypes.Structure):
    """What is left to do on a view of a batch, which dsconv_rest writes: see internal/capi/rest.h."""

    _fields_ = [
        *((name, Int) for name in ("images", "erasures", "values")),
        ("mixing", ctypes.c_int32),
        *((name, ctypes.c_float) for name in ("share", "other")),
        *((name, ctypes.c_int32) for name in ("x", "y", "w", "h")),
    ]


# A region that gets other values, which dsconv_erasures writes: see internal/capi/rest.h.
ERASURE = np.dtype(
    [("image", np.int64), ("at", np.int64), *((name, np.int32) for name in ("x", "y", "w", "h", "noise", "unused"))]
)


class DeviceInfo(ctypes.Structure):
    """Images in a GPU's memory, which dsconv_device writes: see internal/capi/device.h."""

    _fields_ = [("tensor", Pointer), ("elements", Int)]


SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "dsconv_call": (Pointer, [ctypes.c_char_p, ctypes.c_char_p]),
    "dsconv_free": (None, [Pointer]),
    "dsconv_part": (Int, [Int, ctypes.c_int32, Pointer, Int]),
    "dsconv_shapes": (Int, [Int, ctypes.c_int32, Pointer, Int]),
    "dsconv_pick": (Pointer, [Int, Int, Int, Int, ctypes.POINTER(Int)]),
    "dsconv_drop": (None, [Int]),
    "dsconv_labels": (Pointer, [Int, Pointer, Int]),
    "dsconv_order": (Int, [Int, Int, Int, Pointer, Pointer, Int]),
    "dsconv_numbers": (Pointer, [Pointer, Int, ctypes.c_int32, ctypes.POINTER(Int)]),
    "dsconv_start": (
        Pointer,
        [Int, Int, Int, Pointer, Int, Pointer, Int, ctypes.POINTER(Pointer), ctypes.c_int32, ctypes.POINTER(Int)],
    ),
    "dsconv_next": (
        ctypes.c_int32,
        [Int, Pointer, ctypes.c_int32, ctypes.POINTER(BatchInfo), ctypes.POINTER(Pointer)],
    ),
    "dsconv_stop": (None, [Int]),
    "dsconv_tables": (Int, [Int, ctypes.c_int32, Pointer, Int]),
    "dsconv_rest": (Pointer, [Int, ctypes.c_int32, Pointer, Int, ctypes.POINTER(RestInfo)]),
    "dsconv_erasures": (Int, [Int, ctypes.c_int32, Pointer, Int, Pointer, Int]),
    "dsconv_device": (Pointer, [Int, ctypes.c_uint64, ctypes.POINTER(DeviceInfo)]),
    "dsconv_transform": (Pointer, [Int, Pointer, Int, Int, ctypes.c_uint64, Int, Int, ctypes.POINTER(Int)]),
}

_lock = threading.RLock()
_loaded: tuple[int, ctypes.CDLL] | None = None
_ending = False


def _renew_lock() -> None:
    # Another thread may have held it when this process was forked.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def lock() -> contextlib.AbstractContextManager[Any]:
    """Held while a thread opens an object that each process has only once: the library, a dataset."""
    return _lock


def path() -> Path:
    """The library's path: DSCONV_LIBRARY, else the file in the package."""
    name = "libdsconv.dylib" if sys.platform == "darwin" else "libdsconv.so"
    return Path(os.environ.get("DSCONV_LIBRARY") or Path(__file__).with_name(name))


def library() -> ctypes.CDLL:
    """The library. The first call in each process loads it, in a forked process too.

    A forked process has its parent's memory but not its threads, so waiting for one of them would never end. So the
    child does not touch the parent's library and loads a copy.
    """
    global _loaded
    pid = os.getpid()
    if _loaded is not None and _loaded[0] == pid:
        return _loaded[1]
    with lock():
        if _loaded is None or _loaded[0] != pid:
            loaded = _declare(_open() if _loaded is None else _open_copy())
            _end_with_process()
            _loaded = pid, loaded
    return _loaded[1]


def _end_with_process() -> None:
    """Registers the library's end: its threads stop before Python frees their memory, and caches are removed."""
    atexit.unregister(_end)
    atexit.register(_end)
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        from multiprocessing import util

        util.Finalize(None, _end, exitpriority=0)  # some of its processes do not run atexit's functions


def _end() -> None:
    global _ending
    if _loaded is not None and _loaded[0] == os.getpid():
        _ending = True
        with contextlib.suppress(Error):  # no code is left to handle it
            call("end")


def _open() -> ctypes.CDLL:
    if not path().exists():
        raise Error(f"{path()} is missing: install dsconv from a wheel, or name the library in DSCONV_LIBRARY")
    return _load(str(path()))


# What Go's start and a small Loader take.
_ADDRESS_SPACE, _THREADS = 2 << 30, 12


def _load(file: str) -> ctypes.CDLL:
    """Loads the library. Go ends the process, with its registers on the screen, if it gets no memory or no threads for
    its start: so both are tried first."""
    try:
        mmap.mmap(-1, _ADDRESS_SPACE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except OSError as err:
        needed = f"{_ADDRESS_SPACE >> 20} MiB of address space"
        raise Error(
            f"dsconv needs {needed}, and the process has less left ({err}): raise its limit (ulimit -v)"
        ) from err
    enough = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(_THREADS):
            started.append(threading.Thread(target=enough.wait))
            started[-1].start()
    except RuntimeError as err:
        raise Error(
            f"dsconv needs {_THREADS} threads, and the process can start {len(started) - 1} ({err}): raise the limit "
            "(ulimit -u, or the container's)"
        ) from err
    finally:
        enough.set()
    with open(file, "rb") as elf:  # the system ends a process that loads a part of a library
        header = elf.read(64)
        at, size, count = (int.from_bytes(header[i:j], "little") for i, j in ((40, 48), (58, 60), (60, 62)))
        if header[:4] == b"\x7fELF" and os.fstat(elf.fileno()).st_size < max(64, at + size * count):
            raise Error(f"{path()} is not whole: install dsconv's wheel again")
    try:
        return ctypes.CDLL(file)
    except OSError as err:
        raise Error(f"{path()} cannot be loaded ({err}): install dsconv's wheel again") from err


def _open_copy() -> ctypes.CDLL:
    """Loads a copy of the library. The system loads each file once, so the copy needs another file."""
    if not hasattr(os, "memfd_create"):
        raise Error('a forked process cannot load dsconv again on this system: use the start method "spawn"')
    fd = os.memfd_create("libdsconv", os.MFD_CLOEXEC)
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, fd)
        source = stack.enter_context(path().open("rb"))
        size = os.fstat(source.fileno()).st_size
        sent = 0
        while sent < size:
            copied = os.sendfile(fd, source.fileno(), sent, size - sent)
            if copied == 0:
                raise Error(f"{path()} became shorter while it was read: install dsconv's wheel again")
            sent += copied
        # The path holds the process's id: a grandchild's copy must have another path again.
        return _load(f"/proc/{os.getpid()}/fd/{fd}")


def _declare(loaded: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def call(method: str, **arguments: Any) -> Any:
    """Calls a method of the library. Other threads run meanwhile."""
    lib = library()
    return result(lib.dsconv_call(method.encode(), json.dumps(arguments).encode()))


def result(reply: int | None) -> Any:
    """The result in a reply of the library, or its error, which is raised. Frees the reply."""
    if not reply:
        return None
    try:
        answer = json.loads(ctypes.string_at(reply).decode(errors="surrogateescape"))
    finally:
        library().dsconv_free(reply)
    failure = answer.get("error")
    if failure is not None:
        raise error(failure["kind"], failure["message"])
    return answer.get("result")


def error(kind: str, message: str) -> BaseException:
    """The exception for an error that the library reports."""
    if _ending and threading.current_thread() is not threading.main_thread():
        return SystemExit()  # a daemon thread ends with the process, without a traceback
    return BY_KIND.get(kind, Error)(cut(message))


def closed(message: str) -> BaseException:
    """The exception for the use of a closed object."""
    return error("closed", message)


def count(n: int) -> int:
    """A count that the library returns, -1 for a closed handle."""
    if n < 0:
        raise closed("the dataset was closed while it was in use")
    return n
