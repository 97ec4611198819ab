"""Labels in the library's memory, as an array without a copy."""

from __future__ import annotations

import contextlib
import ctypes
import os

from . import _library


class LentLabels:
    """What `numpy.asarray` makes a read-only array of, which keeps this object and so the memory.

    The memory stays as long as an array of it does, also after the dataset is closed, and in processes that are forked
    then. Class indices of a packed dataset are a part of the file, which all processes share. Rows of labels that are
    multi-hot have that many columns.
    """

    __slots__ = ("__array_interface__", "_handle", "_pid", "__weakref__")

    def __init__(self, loader: int, typestr: str, columns: int | None = None) -> None:
        lent = _library.LabelsInfo()
        self._handle, self._pid = 0, os.getpid()
        _library.result(_library.library().dsconv_labels(loader, lent))
        self._handle = lent.handle
        self.__array_interface__ = {
            "shape": (lent.n,) if columns is None else (lent.n, columns),
            "typestr": typestr,
            "data": (lent.data or ctypes.addressof(lent), True),  # of no labels numpy wants an address too
            "strides": (lent.stride,) if columns is None else (lent.stride, 1),
            "version": 3,
        }

    def __del__(self) -> None:
        if self._handle and self._pid == os.getpid():  # a forked process has the memory and not the library
            with contextlib.suppress(Exception, SystemExit):  # the interpreter may be ending
                _library.library().dsconv_drop(self._handle)
