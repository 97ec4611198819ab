"""Images in a GPU's memory, which the library lends to PyTorch by DLPack."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import _library
from ._errors import ForkError
from ._side_stream import side_stream

_CUDA = 2  # DLPack's kDLCUDA
_NAME = b"dltensor"  # of a capsule that nobody has taken the tensor from
_LEGACY_STREAM = 1  # DLPack's number of CUDA's default stream, which is 0 elsewhere


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack 0.8."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _ManagedTensor(ctypes.Structure):
    """DLManagedTensor of DLPack 0.8."""

    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_python = ctypes.pythonapi
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", _python)
)
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))


def _destroy(capsule: int) -> None:
    """Frees the tensor of a capsule, unless someone has taken it over and renamed the capsule."""
    if _is_capsule(capsule, _NAME):
        managed = _pointer_in(capsule, _NAME)
        _Deleter(_ManagedTensor.from_address(managed).deleter)(managed)


_destructor = _Destructor(_destroy)


class DeviceImages:
    """The images of the current batch of a run, a row of elements. torch.from_dlpack makes a tensor of it, once.

    What the loop gets is a copy, in PyTorch's memory. record_stream() does nothing for the library's, or is an error
    with cudaMallocAsync, so that it would be used again while a stream that the library does not know still reads it.
    """

    def __init__(self, run: int, device: int) -> None:
        self._run, self._device = run, device

    def tensor(self) -> Any:
        """A copy of the images, as bytes, made on the side stream."""
        import torch

        with torch.cuda.stream(side_stream(torch.device("cuda", self._device))):
            return torch.from_dlpack(self).view(torch.uint8).clone()

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self._device

    def __dlpack__(self, stream: int | None = None, **_: Any) -> Any:
        """The capsule, of memory that is used again after the work on a stream, as it is when the tensor is freed."""
        stream = 0 if stream in (None, _LEGACY_STREAM) else stream
        info = _library.DeviceInfo()
        _library.result(_library.library().dsconv_device(self._run, stream, info))
        return _new_capsule(info.tensor, _NAME, _destructor)


_opened_in: int | None = None  # the process that has used a GPU


def check_process() -> None:
    """Raises an error in a process that was forked from one that has used a GPU: CUDA does not survive a fork."""
    global _opened_in
    if _opened_in not in (None, os.getpid()):
        raise ForkError(
            'decoder="gpu": this process was forked from one that uses the GPU, where CUDA cannot work: '
            'start it by the method "spawn", or make the Loader in it alone'
        )
    _opened_in = os.getpid()
