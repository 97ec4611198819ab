"""Batches on their way to a device, one ahead of the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ._native import ArgumentError
from ._tensors import torch_or_none


def checked(device: Any) -> Any:
    """A device that batches can go to; None where they stay.

    Raises:
        ValueError: there is no such device.
    """
    if device is None:
        return None
    torch = torch_or_none()
    if torch is None:
        raise ArgumentError(f"device={device!r}: PyTorch is not installed")
    try:
        found = torch.device(device)
        count = torch.cuda.device_count() if found.type == "cuda" else None
        if count is None:
            torch.empty(0, device=found)
    except Exception as error:  # of whatever type a device's library raises
        raise ArgumentError(f"device={device!r}: {str(error).splitlines()[0]}") from None
    if count is not None and count <= (found.index or 0):
        there = f"{count} of them" if count else "no GPU"
        raise ArgumentError(f"device={str(found)!r}: PyTorch finds {there} here; device=None leaves batches on the CPU")
    return found


def to_device(batches: Iterator[tuple[Any, Any]], device: Any) -> Iterator[tuple[Any, Any]]:
    """Moves the first of each pair, a batch, to the device; the second stays as it is.

    On CUDA the copy of the next batch runs on a stream of its own while the loop works on the one before. From pinned
    memory it needs no thread; the memory is used again when the copy has ended, which PyTorch's allocator knows.
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
    """A batch whose copy the current stream waits for, and which that may use from now on."""
    import torch

    def use(value: Any) -> Any:
        stream = torch.cuda.current_stream(value.device)
        stream.wait_event(event)
        value.record_stream(stream)
        return value

    return _each(batch, use), rest


def pinned(batch: Any) -> Any:
    """The batch with its tensors in pinned memory."""
    return _each(batch, lambda value: value.pin_memory())


def _moved(batch: Any, device: Any, non_blocking: bool) -> Any:
    return _each(batch, lambda value: value.to(device, non_blocking=non_blocking))


def _each(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The batch with its tensors changed: a tuple, or the lists and dicts that a collate_fn may give."""
    import torch

    if isinstance(batch, torch.Tensor):
        return change(batch)
    if isinstance(batch, dict):
        return {key: _each(value, change) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(_each(value, change) for value in batch)
    return [_each(value, change) for value in batch] if isinstance(batch, list) else batch
