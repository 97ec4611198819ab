"""Copies batches to a device, one batch ahead of the loop."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

from ._errors import ArgumentError
from ._short_messages import short_message, shown
from ._tensors import torch_or_none


def check_device(device: Any) -> Any:
    """The torch.device of that name; None for None.

    Raises:
        ValueError: there is no such device.
    """
    if device is None:
        return None
    torch = torch_or_none()
    if torch is None:
        raise ArgumentError(f"device={shown(device)}: PyTorch is not installed")
    try:
        found = torch.device(device)
        count = torch.cuda.device_count() if found.type == "cuda" else None
        if count is None:
            torch.empty(0, device=found)
    except Exception as error:  # its type depends on the device's library
        raise ArgumentError(f"device={shown(device)}: {short_message(error).splitlines()[0]}") from None
    if count is not None and count <= (found.index or 0):
        there = f"{count} of them" if count else "no GPU"
        raise ArgumentError(f"device={str(found)!r}: PyTorch finds {there} here; device=None leaves batches on the CPU")
    return found


def has_cuda(device: Any) -> bool:
    """Reports whether CUDA is available and device, a torch.device or None, does not exclude it."""
    torch = torch_or_none()
    return torch is not None and torch.cuda.is_available() and (device is None or device.type == "cuda")


def to_device(batches: Iterator[tuple[Any, Any]], device: Any) -> Generator[tuple[Any, Any], None, None]:
    """Moves the first item of each pair, a batch, to the device; the second is returned as it is.

    On CUDA the next batch is copied on a separate stream while the loop uses the batch before. A copy from pinned
    memory needs no thread. PyTorch's allocator uses that memory again only after the copy has ended.
    """
    import torch

    device = torch.device(device)
    if device.type != "cuda":
        for batch, rest in batches:
            yield _moved(batch, device, False), rest
        return
    stream = torch.cuda.Stream(device)
    waiting: tuple[Any, Any, Any] | None = None
    for batch, rest in batches:
        with torch.cuda.stream(stream):
            moved = _moved(batch, device, True)
        event = torch.cuda.Event()
        event.record(stream)
        if waiting is not None:
            yield _arrived(*waiting)
        waiting = moved, rest, event
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
    """Copies the batch's tensors to pinned memory."""
    return _each(batch, lambda value: value.pin_memory())


def _moved(batch: Any, device: Any, non_blocking: bool) -> Any:
    return _each(batch, lambda value: value.to(device, non_blocking=non_blocking))


def _each(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The batch with each tensor changed. A batch may be nested tuples, lists and dicts, as a collate_fn returns."""
    import torch

    if isinstance(batch, torch.Tensor):
        return change(batch)
    if isinstance(batch, dict):
        return {key: _each(value, change) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(_each(value, change) for value in batch)
    return [_each(value, change) for value in batch] if isinstance(batch, list) else batch
