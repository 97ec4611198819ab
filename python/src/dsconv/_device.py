"""Copies batches to a device, one batch ahead of the loop."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from ._arguments import path
from ._device_memory import check_process
from ._device_transforms import Unfinished
from ._errors import ArgumentError
from ._short_messages import short_message, shown
from ._side_stream import side_stream
from ._tensors import torch_or_none


def check_device(device: Any, decoding: bool = False) -> Any:
    """The torch.device of that name; None for None.

    Args:
        decoding: it is the device of decoder="gpu", which the error says where there is no such GPU.

    Raises:
        ValueError: there is no such device.
    """
    if device is None:
        return None
    torch = torch_or_none()
    if torch is None:
        raise ArgumentError(f"device={shown(device)}: PyTorch is not installed, which pip install torch provides")
    try:
        found = torch.device(device)
        count = torch.cuda.device_count() if found.type == "cuda" else None
        if count is None:
            torch.empty(0, device=found)
    except Exception as error:  # its type depends on the device's library
        raise ArgumentError(f"device={shown(device)}: {short_message(error).splitlines()[0]}") from None
    if count is not None and count <= (found.index or 0):
        there = f"{count} of them here" if count else f"no GPU here: {_why_no_gpu(torch)}"
        if decoding:
            raise ArgumentError(f'decoder="gpu": PyTorch finds {there}; decoder="cpu" decodes without one')
        raise ArgumentError(f"device={str(found)!r}: PyTorch finds {there}; device=None leaves batches on the CPU")
    return found


def _why_no_gpu(torch: Any) -> str:
    """What is missing, and what provides it."""
    if torch.version.cuda is None and torch.version.hip is None:
        return f"PyTorch {torch.__version__} is built without CUDA; pytorch.org has builds with it"
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
    if hidden is not None and hidden.strip() in ("", "-1"):
        return f"CUDA_VISIBLE_DEVICES={hidden!r} hides all of them"
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return (
            "there is no NVIDIA driver (libcuda.so.1), which NVIDIA's driver package provides; "
            "a container gets it from the host, as by docker run --gpus all"
        )
    try:
        torch.cuda.init()
    except Exception as error:  # such as of a driver that is too old for this PyTorch
        return short_message(error).splitlines()[0]
    return "the NVIDIA driver shows none; nvidia-smi lists what it sees"


def decoding_gpu(device: Any) -> Any:
    """The torch.device that decodes: the current CUDA device for None."""
    torch = torch_or_none()
    if torch is None:
        raise ArgumentError('decoder="gpu": PyTorch is not installed, which pip install torch provides')
    found = check_device("cuda" if device is None else device, decoding=True)
    if found.type != "cuda":
        raise ArgumentError(
            f'decoder="gpu": batches are on the GPU that decodes; device={str(found)!r} is no NVIDIA GPU: leave it out'
        )
    return found if found.index is not None else torch.device("cuda", torch.cuda.current_device())


def later_gpu(device: Any, gpu: int | None) -> int | None:
    """The number of the GPU that decodes the epoch that starts, where gpu did or would; None for the CPU.

    If device names none, a launcher may choose it after the Loader was made, with set_device() in each process or with
    a process that gets the Loader. 0 is what nobody has chosen: threads that were started later have it too.
    """
    if gpu != 0 or device is not None and torch_or_none().device(device).index is not None:
        return gpu
    check_process()
    found: int = torch_or_none().cuda.current_device()
    return found


def gpu_options(device: Any, nvjpeg: Any) -> dict[str, Any]:
    """The library's description of the GPU, and where nvJPEG may be."""
    packages = [folder for folder in sys.path if folder and (Path(folder) / "nvidia").is_dir()]
    return {"device": device.index, "nvjpeg": "" if nvjpeg is None else path(nvjpeg, "nvjpeg"), "packages": packages}


def has_cuda(device: Any) -> bool:
    """Reports whether there is a GPU of CUDA's and device, a torch.device or None, does not exclude it. It does not
    start CUDA: processes that are forked later could not use that."""
    torch = torch_or_none()
    return torch is not None and (device is None or device.type == "cuda") and torch.cuda.device_count() > 0


def can_pin() -> bool:
    """Reports whether this process can have pinned memory: CUDA works, and did not start before it was forked."""
    torch = torch_or_none()
    return torch is not None and not torch.cuda._is_in_bad_fork() and torch.cuda.is_available()


def to_device(
    batches: Iterator[tuple[Any, Any]], device: Any, ahead: bool = True
) -> Generator[tuple[Any, Any], None, None]:
    """Moves the first item of each pair, a batch, to the device; the second is returned as it is.

    On CUDA the next batch is copied on a separate stream while the loop uses the batch before. A copy from pinned
    memory needs no thread. PyTorch's allocator uses that memory again only after the copy has ended.

    Args:
        ahead: keep a batch back until the next one is being copied. What the GPU decoded is there already: there is
            nothing to copy meanwhile, and the loop would wait for the next batch before it gets this one.
    """
    import torch

    device = torch.device(device)
    if device.type != "cuda":
        for batch, rest in batches:
            yield _moved(batch, device, False), rest
        return
    if device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    stream = side_stream(device)
    waiting: tuple[Any, Any, Any] | None = None
    for batch, rest in batches:
        with torch.cuda.stream(stream):
            moved = _moved(batch, device, True)
        del batch  # its memory is free when the copy has ended
        event = torch.cuda.Event()
        event.record(stream)
        if waiting is not None:
            yield _arrived(*waiting)
        waiting = moved, rest, event
        del moved
        if not ahead:
            yield _arrived(*waiting)
            waiting = None
    if waiting is not None:
        yield _arrived(*waiting)


def _arrived(batch: Any, rest: Any, event: Any) -> tuple[Any, Any]:
    """Makes the current stream wait for the batch's copy, so that it may use the batch."""
    import torch

    def use(value: Any) -> Any:
        stream = torch.cuda.current_stream(value.device)
        stream.wait_event(event)
        value.record_stream(stream)
        return value

    return _each(batch, use), rest


def pin(batch: Any) -> Any:
    """Copies the batch's tensors to pinned memory, unless they are there."""
    return _each(batch, lambda value: value.pin_memory() if value.device.type == "cpu" else value)


def finish(batch: Any) -> Any:
    """The batch with its images finished."""
    return _map(batch, Unfinished, Unfinished.finish)


def _moved(batch: Any, device: Any, non_blocking: bool) -> Any:
    return finish(_each(batch, lambda value: value.to(device, non_blocking=non_blocking)))


def _each(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The batch with each tensor changed."""
    import torch

    def changed(value: Any) -> Any:
        return value.each(change) if isinstance(value, Unfinished) else change(value)

    return _map(batch, (torch.Tensor, Unfinished), changed)


def _map(batch: Any, kinds: Any, change: Callable[[Any], Any]) -> Any:
    """The batch with each value of some types changed. It may be nested tuples, lists and dicts, as a collate_fn
    returns."""
    if isinstance(batch, kinds):
        return change(batch)
    if isinstance(batch, dict):
        return {key: _map(value, kinds, change) for key, value in batch.items()}
    if isinstance(batch, tuple):
        values = [_map(value, kinds, change) for value in batch]
        return type(batch)(*values) if hasattr(batch, "_fields") else tuple(values)  # named, as a DataLoader keeps them
    return [_map(value, kinds, change) for value in batch] if isinstance(batch, list) else batch
