"""DataLoader's arguments for its worker processes: accepted where they change nothing."""

from __future__ import annotations

from typing import Any

from ._arguments import flag, whole
from ._errors import ArgumentError, ArgumentTypeError
from ._short_messages import shown

_START_METHODS = ("fork", "spawn", "forkserver")


def check_worker_arguments(
    *,
    in_order: Any,
    multiprocessing_context: Any,
    persistent_workers: Any,
    pin_memory_device: Any,
    timeout: Any,
    worker_init_fn: Any,
) -> None:
    """Raises an error for a value that asks for something which the Loader does not do, and says what to do instead."""
    flag("in_order", in_order)  # batches always come in order
    flag("persistent_workers", persistent_workers)  # threads start in no time
    _check_context(multiprocessing_context)
    if pin_memory_device and not str(pin_memory_device).startswith("cuda"):
        raise ArgumentError(f"pin_memory_device={shown(pin_memory_device)}: only CUDA has pinned memory; leave it out")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float))):
        raise ArgumentTypeError(f"timeout={shown(timeout)}: it must be 0, or left out")
    if timeout:
        instead = f"to end a process that waits too long, call faulthandler.dump_traceback_later({timeout}, exit=True)"
        raise ArgumentError(
            f"timeout={timeout}: leave it out: threads that wait for a disk cannot be stopped, as processes can; "
            f"{instead} before each batch"
        )
    if worker_init_fn is not None:
        raise ArgumentError(
            f"worker_init_fn={shown(worker_init_fn)}: leave it out: there are no worker processes. "
            "Set up what transforms need before the loop; their random draws follow seed"
        )


def _check_context(context: Any) -> None:
    """None, the name of a start method or a context: the Loader starts no processes."""
    method = context
    if context is not None and not isinstance(context, str) and callable(getattr(context, "get_start_method", None)):
        method = context.get_start_method()
    if method is not None and (not isinstance(method, str) or method not in _START_METHODS):
        allowed = ", ".join(_START_METHODS)
        raise ArgumentError(
            f"multiprocessing_context={shown(context)}: choose {allowed} or None; "
            "the Loader uses threads with any of them"
        )


def prefetched(prefetch_factor: Any, num_workers: int) -> int:
    """The number of batches to prefetch: prefetch_factor for each worker, by default 2 in all."""
    if prefetch_factor is None:
        return 2 if num_workers else 0
    factor = whole("prefetch_factor", prefetch_factor, 1)
    if num_workers == 0:
        raise ArgumentError(
            f"prefetch_factor={factor}: num_workers=0 loads nothing before it is asked for; leave it out"
        )
    return factor * num_workers
