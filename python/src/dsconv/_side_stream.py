"""The CUDA stream beside the loop's, on which batches are made."""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def side_stream(device: Any) -> Any:
    """The stream for all batches of a device. One for all epochs: PyTorch keeps the memory that was freed on a stream
    for that stream alone. Its short kernels come before those of the loop, which fill the GPU."""
    import torch

    return torch.cuda.Stream(device, priority=-1)
