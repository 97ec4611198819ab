"""Seeds the random generators that a user's transforms draw from, and restores their states afterwards."""

from __future__ import annotations

import hashlib
import os
import random
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ._reachable import reachable


class _Generator(Protocol):
    """A generator, or the state that several generators share."""

    def save(self) -> Any: ...
    def restore(self, state: Any) -> None: ...
    def seed(self, number: int) -> None: ...


class Generators:
    """All generators that some callables may draw from: those of the process (of Python, numpy and torch), and those
    that the callables hold.

    No other Python code may draw while they are borrowed. So seeded code runs in the iterating thread, whose loop waits
    meanwhile, and in one such thread at a time.

    Args:
        seed: of all generators.
        roots: the callables. Generators that they get later are not seeded.
        process: also seed the generators of the process.
    """

    def __init__(self, seed: int, *roots: Any, process: bool = True) -> None:
        self._seed = seed
        self._found, _ = _find(roots)
        if not process:
            self._found = {name: generator for name, generator in self._found.items() if name not in _PROCESS}

    def seed(self, *what: int | str) -> None:
        """Seeds each generator from the seed, what and the generator's path."""
        for name, generator in self._found.items():
            text = f"{self._seed} {what} {name}"
            generator.seed(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=32).digest(), "little"))

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """A context in which the generators may be seeded. Its end restores their states."""
        with _lock:
            states = [(generator, generator.save()) for generator in self._found.values()]
            try:
                yield
            finally:
                for generator, state in states:
                    generator.restore(state)


def warn_of_unseeded(*roots: Any, stacklevel: int) -> None:
    """Warns of sources of randomness that the callables use, as far as is visible, and that cannot be seeded."""
    unseeded = _find(roots)[1]
    if unseeded:
        text = "what transforms draw from it does not follow the seed and differs from run to run; draw from"
        warnings.warn(f"{', '.join(unseeded)}: {text} numpy, torch or random instead", stacklevel=stacklevel + 1)


_lock = threading.RLock()


def _renew_lock() -> None:
    # Another thread may have held it when this process was forked.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


_PROCESS = ("random", "numpy", "torch")


def _find(roots: tuple[Any, ...]) -> tuple[dict[str, _Generator], list[str]]:
    """The generators by their paths, and the names of what cannot be seeded."""
    found: dict[str, _Generator] = {"random": _Random(_python), "numpy": _RandomState(_numpy)}
    seen = {id(_python), id(_numpy), id(_numpy._bit_generator)}
    torch = sys.modules.get("torch")
    if torch is not None:
        found["torch"] = _Torch(torch.default_generator)
        seen.add(id(torch.default_generator))
    unseeded: list[str] = []
    for path, obj in reachable(roots, unseeded.append):
        generator = _generator(obj)
        same = getattr(obj, "bit_generator", obj)
        if generator is not None and not seen & {id(obj), id(same)}:
            seen |= {id(obj), id(same)}
            if _works(generator):
                found[path] = generator
            else:
                unseeded.append(f"{type(obj).__module__}.{type(obj).__qualname__}")
    return found, sorted(set(unseeded))


def _generator(obj: Any) -> _Generator | None:
    if isinstance(obj, random.Random):
        return _Random(obj)
    if isinstance(obj, np.random.RandomState):
        return _RandomState(obj)
    if isinstance(obj, np.random.Generator):
        return _BitGenerator(obj.bit_generator)
    if isinstance(obj, np.random.BitGenerator):
        return _BitGenerator(obj)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(obj, torch.Generator):
        return _Torch(obj)
    return None


def _works(generator: _Generator) -> bool:
    """Reports whether generator can be seeded. One that draws from the system's entropy cannot."""
    try:
        state = generator.save()
        generator.seed(1)
        generator.restore(state)
    except Exception:
        return False
    return True


# The generators behind the modules' functions.
_python: random.Random = getattr(random.random, "__self__")  # noqa: B009
_numpy: Any = np.random.random_sample.__self__  # type: ignore[attr-defined]


class _Random:
    def __init__(self, generator: random.Random) -> None:
        self._generator = generator
        self.save, self.restore = generator.getstate, generator.setstate

    def seed(self, number: int) -> None:
        self._generator.seed(number & (1 << 64) - 1)


class _RandomState:
    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def save(self) -> Any:
        return self._generator.get_state(legacy=False)

    def restore(self, state: Any) -> None:
        self._generator.set_state(state)

    def seed(self, number: int) -> None:
        bits = self._generator._bit_generator
        if isinstance(bits, np.random.MT19937):
            self._generator.seed(number & (1 << 32) - 1)
        else:  # set_bit_generator has replaced it
            self._generator.set_state({**type(bits)(number).state, "has_gauss": 0, "gauss": 0.0})


class _BitGenerator:
    def __init__(self, bits: Any) -> None:
        self._bits = bits

    def save(self) -> Any:
        return self._bits.state

    def restore(self, state: Any) -> None:
        self._bits.state = state

    def seed(self, number: int) -> None:
        if type(self._bits) is np.random.PCG64:  # numpy's default; three times as fast as a new one
            self._bits.state = {
                "bit_generator": "PCG64",
                "state": {"state": number & (1 << 128) - 1, "inc": number >> 128 | 1},
                "has_uint32": 0,
                "uinteger": 0,
            }
        else:
            self._bits.state = type(self._bits)(number).state


class _Torch:
    def __init__(self, generator: Any) -> None:
        self._generator = generator
        self.save, self.restore = generator.get_state, generator.set_state

    def seed(self, number: int) -> None:
        self._generator.manual_seed(number & (1 << 63) - 1)
