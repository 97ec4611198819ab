"""dsconv's Loader(decoder="gpu") on fakes: of CUDA for PyTorch (fake_cuda), of the driver and of nvJPEG (fakegpu)."""

from __future__ import annotations

import ctypes
from typing import Any
from unittest import mock

import fake_cuda
import numpy as np
import torch
from dsconv import _device_memory

_TYPES = {(0, 64): "int64", (1, 8): "uint8", (2, 32): "float32", (2, 16): "float16", (4, 16): "bfloat16"}
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))


def driver() -> Any:
    """The fake libcuda, which the environment names in LD_LIBRARY_PATH."""
    library = ctypes.CDLL("libcuda.so.1")
    library.fake_device.restype, library.fake_device.argtypes = ctypes.c_void_p, [ctypes.c_uint64, ctypes.c_size_t]
    return library


class FakeDecoding(fake_cuda.FakeCuda):
    """FakeCuda, whose torch.from_dlpack reads the fake driver's memory. alive counts the tensors that are not freed."""

    def __init__(self) -> None:
        super().__init__("none")
        self.alive = 0

    def __enter__(self) -> FakeDecoding:
        super().__enter__()
        self.exit.enter_context(mock.patch.object(torch, "from_dlpack", self.from_dlpack))
        return self

    def from_dlpack(self, source: Any) -> torch.Tensor:
        """A tensor over the memory, as PyTorch makes it; the deleter is called when it is freed."""
        number = torch.cuda.current_device()
        assert source.__dlpack_device__() == (2, number)
        capsule = source.__dlpack__(stream=1, max_version=(1, 0))
        address = _get_pointer(capsule, b"dltensor")
        _set_name(capsule, b"used_dltensor")
        managed = _device_memory._ManagedTensor.from_address(address)
        tensor, deleter = managed.tensor, _device_memory._Deleter(managed.deleter)
        assert (tensor.device_type, tensor.device, tensor.ndim, tensor.lanes) == (2, number, 1, 1)
        dtype = getattr(torch, _TYPES[tensor.code, tensor.bits])
        size = tensor.shape[0] * tensor.bits // 8
        host = driver().fake_device(tensor.data + tensor.byte_offset, size)
        assert host, "the tensor's memory is not the GPU's"
        memory = fake_cuda._Memory(0, self.default)
        memory.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(host))
        memory.foreign = True
        self.memory[host] = memory
        self.alive += 1

        def freed() -> None:
            self.alive -= 1
            del self.memory[host]
            deleter(address)

        return torch.from_numpy(np.asarray(fake_cuda._Owned(memory.bytes, freed))).view(dtype)
