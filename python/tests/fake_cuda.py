"""A CUDA device without a GPU: PyTorch's streams, events, pinned memory and memory allocators, on tensors of the CPU.

What a program forgets shows as wrong values, and always, not by chance:

- Work on a stream that runs late is carried out only when something waits for it. A tensor contains canaries until the
  work that fills it is done, so a missing wait reads canaries.
- Memory contains canaries as soon as PyTorch's allocators could give it to someone else: a tensor's, at once for the
  stream that it was allocated on, and for others only if record_stream named them; pinned memory, when the copies from
  it have ended.
- The host must not wait: reading a tensor, or copying from memory that is not pinned, is counted in `waits`.

Work is queued as operators of PyTorch (TorchDispatchMode), so all of PyTorch that is made of them works.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

CANARY = 0xA5
GPU = torch.device("cuda", 0)


class Stream:
    """A queue of work. What is queued on a stream that is not late is done at once."""

    def __init__(self, device: Any = None, late: bool | None = None, priority: int = 0) -> None:
        self.late = _now().late == "side" if late is None else late
        self.work: deque[Callable[[], None]] = deque()
        self.queued = self.done = 0
        _now().streams.append(self)

    def add(self, work: Callable[[], None]) -> None:
        self.work.append(work)
        self.queued += 1
        if not self.late:
            self.run(self.queued)

    def run(self, until: int) -> None:
        while self.done < until:
            work = self.work.popleft()
            self.done += 1
            work()

    def wait_event(self, event: Event) -> None:
        stream, until = event.stream, event.until
        self.add(lambda: stream.run(until))

    def synchronize(self) -> None:
        _now().waits += 1
        self.run(self.queued)


class Event:
    """A point in a stream's queue."""

    def __init__(self, **_: Any) -> None:
        self.stream, self.until = _now().current, 0

    def record(self, stream: Stream | None = None) -> None:
        self.stream = stream or _now().current
        self.until = self.stream.queued

    def query(self) -> bool:
        return self.stream.done >= self.until


class _Owned:
    """The base object of an array: `freed` is called when no tensor has the memory any more."""

    def __init__(self, array: np.ndarray, freed: Callable[[], None]) -> None:
        self.__array_interface__ = array.__array_interface__
        self._freed = freed

    def __del__(self) -> None:
        self._freed()


class _Memory:
    """A piece of memory: where it is, the stream it was allocated on (None: pinned), and what may still use it."""

    foreign = False  # of another library: PyTorch's allocator does not know it

    def __init__(self, size: int, stream: Stream | None) -> None:
        self.bytes = np.full(max(size, 1) + -size % 16, CANARY, np.uint8)
        self.stream = stream
        self.used: list[Stream] = []  # by record_stream
        self.copies: list[Event] = []  # from pinned memory

    def clear(self) -> None:
        self.bytes.fill(CANARY)


_active: list[FakeCuda] = []


def _now() -> FakeCuda:
    return _active[-1]


class FakeCuda:
    """While it is entered, torch has one CUDA device. late is "side" or "default": the streams whose work runs late.

    waits counts how often the host waited for a stream. streams are all that were made."""

    def __init__(self, late: str) -> None:
        self.late = late
        self.waits = 0
        self.inside = 0  # the fake's own calls are not intercepted
        self.streams: list[Stream] = []
        self.memory: dict[int, _Memory] = {}  # by address; none is used again
        self.released: list[_Memory] = []  # that something may still use
        self.exit = contextlib.ExitStack()

    def __enter__(self) -> FakeCuda:
        _active.append(self)
        self.current = self.default = Stream(late=self.late == "default")
        patches = {
            "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
            "current_stream": lambda device=None: self.current, "default_stream": lambda device=None: self.default,
            "stream": self.on, "Stream": Stream, "Event": Event, "synchronize": self.synchronize, "init": lambda: None,
            "set_device": lambda device: None,
        }  # fmt: skip
        for name, value in patches.items():
            self.exit.enter_context(mock.patch.object(torch.cuda, name, value))
        # Its arguments are checked before a TorchFunctionMode sees them.
        self.exit.enter_context(mock.patch.object(torch.Tensor, "record_stream", _record_stream))
        self.exit.enter_context(_Calls(self))
        self.exit.enter_context(_Operators(self))
        return self

    def __exit__(self, *failure: Any) -> None:
        self.synchronize()
        self.exit.close()
        _active.remove(self)

    @contextlib.contextmanager
    def on(self, stream: Stream | None) -> Iterator[None]:
        before, self.current = self.current, stream or self.current
        try:
            yield
        finally:
            self.current = before

    def synchronize(self, device: Any = None) -> None:
        for stream in self.streams:
            stream.run(stream.queued)

    # Memory.

    def allocate(self, size: int, stream: Stream | None) -> torch.Tensor:
        """A flat tensor of the device for work on a stream, or of pinned memory for None."""
        self.collect()
        memory = _Memory(size, stream)
        address = memory.bytes.ctypes.data
        self.memory[address] = memory
        return torch.from_numpy(np.asarray(_Owned(memory.bytes, lambda: self.free(memory))))

    def free(self, memory: _Memory) -> None:
        if self not in _active:
            return
        memory.copies += [recorded(stream) for stream in memory.used]
        self.released.append(memory)
        self.collect()

    def collect(self) -> None:
        """Overwrites what the allocators may give out again."""
        kept = []
        for memory in self.released:
            if not all(event.query() for event in memory.copies):
                kept.append(memory)
            elif memory.stream is None:
                memory.clear()
            else:
                memory.stream.add(memory.clear)
        self.released = kept

    def of(self, tensor: torch.Tensor) -> _Memory | None:
        return self.memory.get(tensor.untyped_storage().data_ptr())

    def on_device(self, tensor: Any) -> bool:
        memory = self.of(tensor)
        return memory is not None and memory.stream is not None

    def like(self, tensor: torch.Tensor) -> torch.Tensor:
        """A new tensor of the device, as large and with the same strides."""
        flat = self.allocate(tensor.untyped_storage().nbytes(), self.current)
        return _shaped(flat, tensor)

    def alias(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same elements without a reference to their memory."""
        memory = self.of(tensor)
        return tensor if memory is None else _shaped(torch.from_numpy(memory.bytes), tensor)

    # Copies.

    def upload(self, host: torch.Tensor) -> torch.Tensor:
        """A copy on the device, made on the current stream."""
        out, memory = self.like(host), self.of(host)
        if memory is None:  # CUDA waits for the stream, then copies to memory of its own
            self.current.synchronize()
            source = host.clone()
        else:
            source = self.alias(host)
        to = self.alias(out)
        self.queue(lambda: to.copy_(source))
        if memory is not None:
            memory.copies.append(recorded(self.current))
        return out

    def filled(self, values: torch.Tensor) -> torch.Tensor:
        """A tensor of the device that a kernel makes, such as of torch.arange."""
        out = self.like(values)
        to = self.alias(out)
        self.queue(lambda: to.copy_(values))
        return out

    def download(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy on the host, for which the host waits."""
        out = self.read(tensor)
        self.current.synchronize()
        return out

    def read(self, tensor: torch.Tensor) -> torch.Tensor:
        """As a step of a training: queued on the current stream, and the host does not wait. The result is complete
        after synchronize()."""
        with self.own():
            source = self.alias(tensor)
            out = torch.zeros_like(source)
        self.queue(lambda: out.copy_(source))
        return out

    def queue(self, work: Callable[[], Any]) -> None:
        def run() -> None:
            with self.own():
                work()

        self.current.add(run)

    @contextlib.contextmanager
    def own(self) -> Iterator[None]:
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1


def recorded(stream: Stream) -> Event:
    event = Event()
    event.record(stream)
    return event


def _shaped(flat: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    whole = flat[: flat.numel() - flat.numel() % like.element_size()].view(like.dtype)
    return whole.as_strided(like.size(), like.stride(), like.storage_offset())


def _is_gpu(device: Any) -> bool:
    return device is not None and torch.device(device).type == "cuda"


class _Calls(TorchFunctionMode):
    """The calls that name a device, or pinned memory."""

    def __init__(self, fake: FakeCuda) -> None:
        super().__init__()
        self.fake = fake

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        fake, kwargs = self.fake, dict(kwargs or {})
        if fake.inside:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        mine = _METHODS.get(name) if args and isinstance(args[0], torch.Tensor) else None
        if mine is not None:
            with fake.own():
                handled = mine(fake, *args, **kwargs)
            if handled is not NotImplemented:
                return handled
        elif name == "__get__" and isinstance(args[0], torch.Tensor):
            which = func.__self__.__name__
            if which in ("device", "is_cuda") and fake.on_device(args[0]):
                return GPU if which == "device" else True
        if kwargs.pop("pin_memory", False):
            with fake.own():
                made = func(*args, **kwargs)
                return _shaped(fake.allocate(made.untyped_storage().nbytes(), None), made)
        if _is_gpu(kwargs.get("device")):
            kwargs.pop("device")
            with fake.own():
                made = func(*args, **kwargs)
                if name in ("tensor", "as_tensor"):
                    return fake.upload(made)
                return fake.like(made) if name.startswith("empty") else fake.filled(made)
        return func(*args, **kwargs)


def _to(fake: FakeCuda, tensor: torch.Tensor, *args: Any, non_blocking: bool = False, **kwargs: Any) -> Any:
    named = [a for a in (*args, kwargs.get("device")) if isinstance(a, (str, torch.device, int))]
    rest = [a for a in args if not isinstance(a, (str, torch.device, int))]
    kwargs.pop("device", None)
    if fake.on_device(tensor):
        if named and not _is_gpu(named[0]):
            tensor = fake.download(tensor)
            return tensor.to(*rest, **kwargs)
        if not rest and kwargs.get("memory_format", torch.preserve_format) == torch.preserve_format:
            return tensor if kwargs.get("dtype", tensor.dtype) == tensor.dtype else _inside(fake, tensor, kwargs)
        return _inside(fake, tensor, kwargs, *rest)
    if not named or not _is_gpu(named[0]):
        return NotImplemented
    return fake.upload(tensor.to(*rest, **kwargs) if rest or kwargs else tensor)


def _inside(fake: FakeCuda, tensor: torch.Tensor, kwargs: Any, *rest: Any) -> Any:
    """A conversion on the device."""
    inside, fake.inside = fake.inside, 0
    try:
        with torch._C.DisableTorchFunction():
            return tensor.to(*rest, **kwargs)
    finally:
        fake.inside = inside


def _pin(fake: FakeCuda, tensor: torch.Tensor, device: Any = None) -> torch.Tensor:
    assert not fake.on_device(tensor), "cannot pin a tensor of the device"
    if fake.of(tensor) is not None:
        return tensor
    pinned = _shaped(fake.allocate(tensor.untyped_storage().nbytes(), None), tensor)
    return pinned.copy_(tensor)


def _is_pinned(fake: FakeCuda, tensor: torch.Tensor, device: Any = None) -> bool:
    memory = fake.of(tensor)
    return memory is not None and memory.stream is None


def _record_stream(tensor: torch.Tensor, stream: Stream) -> None:
    memory = _now().of(tensor)
    assert memory is not None and memory.stream is not None
    assert not memory.foreign, "record_stream() does nothing, or fails with cudaMallocAsync"
    if stream is not memory.stream:
        memory.used.append(stream)


def _read(name: str) -> Callable[..., Any]:
    def read(fake: FakeCuda, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not fake.on_device(tensor):
            return NotImplemented
        host = fake.download(tensor)
        return host if name == "cpu" else getattr(host, name)(*args, **kwargs)

    return read


_METHODS: dict[str, Callable[..., Any]] = {
    "to": _to, "pin_memory": _pin, "is_pinned": _is_pinned,
    **{name: _read(name) for name in ("cpu", "item", "tolist", "__bool__", "__int__", "__float__", "__repr__")},
}  # fmt: skip


class _Operators(TorchDispatchMode):
    """Queues operators on tensors of the device."""

    def __init__(self, fake: FakeCuda) -> None:
        super().__init__()
        self.fake = fake

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        fake, kwargs = self.fake, kwargs or {}
        tensors = [a for a in tree_flatten((args, kwargs))[0] if isinstance(a, torch.Tensor)]
        if fake.inside or not any(map(fake.on_device, tensors)) or func.is_view:
            return func(*args, **kwargs)
        for tensor in tensors:
            if tensor.dim() > 0 and not fake.on_device(tensor):
                raise RuntimeError(f"{func}: tensors of the device and of the CPU")
        name = func.overloadpacket.__name__
        if name in ("_local_scalar_dense", "nonzero", "masked_select") or name == "index" and _by_mask(args[1]):
            fake.waits += 1  # the result's size or value is known only after the work
            raise RuntimeError(f"{func} waits for the device")
        with fake.own():
            hidden, options = tree_map_only(torch.Tensor, fake.alias, (args, kwargs))
            written = _written(func, args, kwargs)
            if written is not None:
                fake.queue(lambda: func(*hidden, **options))
                return written
            shapes = tree_map_only(torch.Tensor, _meta, (hidden, options))
            out = tree_map_only(torch.Tensor, fake.like, func(*shapes[0], **shapes[1]))
            to = tree_map_only(torch.Tensor, fake.alias, out)

        def run() -> None:
            results = tree_flatten(func(*hidden, **options))[0]
            for target, result in zip(tree_flatten(to)[0], results):
                target.copy_(result)

        fake.queue(run)
        return out


def _meta(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta")


def _by_mask(indices: Any) -> bool:
    return any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in indices)


def _written(func: Any, args: Any, kwargs: Any) -> Any:
    """The argument that an operator writes to, which it also returns; None if it makes a new tensor."""
    for k, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            return kwargs.get(argument.name) if argument.kwarg_only else args[k]
    return None
