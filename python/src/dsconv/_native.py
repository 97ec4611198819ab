"""The library that does the work: where it is, how it is called, what its errors become."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

Pointer = ctypes.c_void_p
Int = ctypes.c_int64


class Error(Exception):
    """What dsconv reports. The message names the file, the sample's key and the cause."""


class MissingError(Error, FileNotFoundError):
    """A file or a dataset is not there."""

    __str__ = Exception.__str__


class ArgumentError(Error, ValueError):
    """An argument makes no sense, or not with this dataset."""


class ArgumentTypeError(Error, TypeError):
    """An argument is of a type that makes no sense there."""


class DataError(Error):
    """Stored data is damaged."""


class RunError(Error):
    """What no sample is to blame for, such as that there is no memory: it ends an epoch whatever on_error says."""


class ForkError(RunError):
    """Something belongs to another process, from which this one was forked."""


KINDS = {"missing": MissingError, "value": ArgumentError, "data": DataError, "ends": RunError, "closed": RunError}


class BatchInfo(ctypes.Structure):
    """What dsconv_next describes a batch by: see capi/batch.h."""

    _fields_ = [("images", Pointer), ("n", Int), ("end", Int), ("skipped", Int), ("substituted", Int)]


SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "dsconv_call": (Pointer, [ctypes.c_char_p, ctypes.c_char_p]),
    "dsconv_free": (None, [Pointer]),
    "dsconv_part": (Int, [Int, ctypes.c_int32, Pointer, Int]),
    "dsconv_shapes": (Int, [Int, ctypes.c_int32, Pointer, Int]),
    "dsconv_pick": (Pointer, [Int, Int, Int, Int, ctypes.POINTER(Int)]),
    "dsconv_drop": (None, [Int]),
    "dsconv_labels": (Pointer, [Int, Pointer, Int]),
    "dsconv_order": (Int, [Int, Int, Int, Pointer, Pointer, Int]),
    "dsconv_start": (
        Pointer,
        [Int, Int, Int, Pointer, Int, ctypes.POINTER(Pointer), ctypes.c_int32, ctypes.POINTER(Int)],
    ),
    "dsconv_next": (
        ctypes.c_int32,
        [Int, Pointer, ctypes.c_int32, ctypes.POINTER(BatchInfo), ctypes.POINTER(Pointer)],
    ),
    "dsconv_stop": (None, [Int]),
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
    """Held while a thread opens what its process has once: the library, a dataset."""
    return _lock


def path() -> Path:
    """Where the library is: in the package, or where DSCONV_LIBRARY says."""
    name = "libdsconv.dylib" if sys.platform == "darwin" else "libdsconv.so"
    return Path(os.environ.get("DSCONV_LIBRARY") or Path(__file__).with_name(name))


def library() -> ctypes.CDLL:
    """The library, loaded when it is first used, and afresh in a process that was forked.

    A forked process has its parent's memory but not its threads: whoever waits for one of them waits for ever. So
    the child leaves the parent's library alone and loads a copy.
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
    """Has the library's threads end before Python frees what they write to, and caches be removed."""
    atexit.unregister(_end)
    atexit.register(_end)
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        from multiprocessing import util

        util.Finalize(None, _end, exitpriority=0)  # some of its processes run nothing of atexit's


def _end() -> None:
    global _ending
    if _loaded is not None and _loaded[0] == os.getpid():
        _ending = True
        with contextlib.suppress(Error):  # nobody is left to be told
            call("end")


def _open() -> ctypes.CDLL:
    if not path().exists():
        raise Error(f"{path()} is missing: the package was not built; install it with pip, or set DSCONV_LIBRARY")
    return ctypes.CDLL(str(path()))


def _open_copy() -> ctypes.CDLL:
    """The library once more: what is loaded already is known by its file, so that must be another."""
    if not hasattr(os, "memfd_create"):
        raise Error("a forked process cannot load dsconv again on this system: use the start method spawn")
    fd = os.memfd_create("libdsconv", os.MFD_CLOEXEC)
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, fd)
        source = stack.enter_context(path().open("rb"))
        size = os.fstat(source.fileno()).st_size
        sent = 0
        while sent < size:
            sent += os.sendfile(fd, source.fileno(), sent, size - sent)
        # By the process's number: a grandchild's file must have another name too.
        return ctypes.CDLL(f"/proc/{os.getpid()}/fd/{fd}")


def _declare(loaded: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def call(method: str, **arguments: Any) -> Any:
    """Calls a method of the library. Other threads go on meanwhile."""
    lib = library()
    return result(lib.dsconv_call(method.encode(), json.dumps(arguments).encode()))


def result(reply: int | None) -> Any:
    """What is in a reply of the library, which is freed. An error is raised."""
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
    """What to raise for a failure that the library tells."""
    if _ending and threading.current_thread() is not threading.main_thread():
        return SystemExit()  # a daemon's work ends with the process, as nothing that is worth a traceback
    return KINDS.get(kind, Error)(message)


class Transform:
    """Transforms of single images, in the words of `dsconv bench --help`, apart from any dataset.

    It is safe to use from several threads.

    Args:
        words: such as "rrc:224,flip,normalize".
        dtype: of the result: "uint8", "float32" or "float16".
        layout: "nhwc" or "nchw", of the result.
        color: "rgb" or "gray".
    """

    def __init__(self, words: str, dtype: str = "uint8", layout: str = "nhwc", color: str = "rgb") -> None:
        self.words, self.dtype, self.layout = words, dtype, layout
        self.channels = 1 if color == "gray" else 3
        self._opened: tuple[int, int] | None = None
        self._handle()  # a mistake in the words is told now

    def _handle(self) -> int:
        pid, opened = os.getpid(), self._opened
        if opened is not None and opened[0] == pid:
            return opened[1]
        with lock():
            if self._opened is None or self._opened[0] != pid:
                words, dtype, layout, channels = self.words, self.dtype, self.layout, self.channels
                self._opened = pid, call("transform", words=words, dtype=dtype, layout=layout, channels=channels)
            return self._opened[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return Transform, (self.words, self.dtype, self.layout, "gray" if self.channels == 1 else "rgb")

    def __del__(self) -> None:
        try:
            opened = getattr(self, "_opened", None)
            if opened is not None and opened[0] == os.getpid():
                call("forget", handle=opened[1])
        except (Exception, SystemExit):  # noqa: SIM105 -- the interpreter may be ending, and contextlib be gone
            pass

    def __call__(self, pixels: np.ndarray, seed: int = 0, epoch: int = 0, sample: int = 0) -> np.ndarray:
        """Transforms pixels, uint8 of shape (H, W, C) or (H, W), drawing what is random from (seed, epoch, sample)."""
        if pixels.ndim == 2:
            pixels = pixels[:, :, None]
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != self.channels:
            raise ArgumentError(f"an array of {pixels.dtype} {pixels.shape}: wanted uint8 (H, W, {self.channels})")
        pixels = np.ascontiguousarray(pixels)
        out = Int()
        lib = library()
        height, width, _ = pixels.shape
        handle = self._handle()
        result(lib.dsconv_transform(handle, pixels.ctypes.data, height, width, seed, epoch, sample, out))
        try:
            return part(out.value, 0, self.dtype, shapes(out.value, 0)[0])
        finally:
            lib.dsconv_drop(out)

    def plan(self, height: int, width: int, seed: int = 0, epoch: int = 0, sample: int = 0) -> list[dict[str, Any]]:
        """What is done to an image of that size, in order, with what was drawn."""
        steps = call(
            "plan", transform=self._handle(), height=height, width=width, seed=seed, epoch=epoch, sample=sample
        )
        return steps or []


def part(handle: int, k: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """A copy of part k of what a handle has by now, as elements of dtype (bfloat16 as the bits, uint16)."""
    out = np.empty(shape, numpy_dtype(dtype))
    if library().dsconv_part(handle, k, out.ctypes.data, out.nbytes) != out.nbytes:
        raise error("closed", f"part {k} of a batch: it is closed, or has another size than {out.nbytes} bytes")
    return out


def known(count: int) -> int:
    """A count that the library gives, where -1 stands for a handle that is closed."""
    if count < 0:
        raise error("closed", "it is closed")
    return count


def part_bytes(handle: int, k: int) -> np.ndarray:
    """A copy of part k of what a handle has by now, as bytes."""
    lib = library()
    out = np.empty(known(lib.dsconv_part(handle, k, None, 0)), np.uint8)
    lib.dsconv_part(handle, k, out.ctypes.data, out.nbytes)
    return out


def shapes(handle: int, k: int) -> list[tuple[int, ...]]:
    """The shapes of part k's values where they differ from sample to sample."""
    lib = library()
    numbers = np.empty(known(lib.dsconv_shapes(handle, k, None, 0)), np.int64)
    lib.dsconv_shapes(handle, k, numbers.ctypes.data, len(numbers))
    found, i, flat = [], 0, numbers.tolist()
    while i < len(flat):
        found.append(tuple(flat[i + 1 : i + 1 + flat[i]]))
        i += 1 + flat[i]
    return found


def numpy_dtype(name: str) -> np.dtype:
    """numpy's type of elements; bfloat16, which it lacks, as their bits."""
    return np.dtype("uint16" if name == "bfloat16" else name)
