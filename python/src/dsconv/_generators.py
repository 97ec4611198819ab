"""The random generators that a caller's Python code draws from: seeding them, and giving them back as they were."""

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

from ._reach import reach


class _Generator(Protocol):
    """A generator, or what several share."""

    def save(self) -> Any: ...
    def restore(self, state: Any) -> None: ...
    def seed(self, number: int) -> None: ...


class Generators:
    """All generators that some callables may draw from: Python's, numpy's and torch's, which are the process's, and
    those that the callables hold.

    Nothing else of Python's may draw while they are borrowed. So what is seeded runs in the thread that iterates, whose
    loop waits meanwhile, and in one such thread at a time.

    Args:
        seed: of all of them.
        roots: the callables, as they are now: what they come to hold later is not seeded.
        process: the process's are among them.
    """

    def __init__(self, seed: int, *roots: Any, process: bool = True) -> None:
        self._seed = seed
        self._found, _ = _find(roots)
        if not process:
            self._found = {name: generator for name, generator in self._found.items() if name not in _PROCESS}

    def seed(self, *what: int | str) -> None:
        """Seeds each of them from what, the seed and where it is."""
        for name, generator in self._found.items():
            text = f"{self._seed} {what} {name}"
            generator.seed(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=32).digest(), "little"))

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """Within it they may be seeded; they are afterwards as they were."""
        with _lock:
            states = [(generator, generator.save()) for generator in self._found.values()]
            try:
                yield
            finally:
                for generator, state in states:
                    generator.restore(state)


def warn_of_others(*roots: Any, stacklevel: int) -> None:
    """Warns of what callables draw from, as far as can be seen, that no seed reaches."""
    untied = _find(roots)[1]
    if untied:
        text = "what transforms draw from it does not follow the seed, and differs from run to run; let them draw from"
        warnings.warn(f"{', '.join(untied)}: {text} numpy, torch or random", stacklevel=stacklevel + 1)


_lock = threading.RLock()


def _renew_lock() -> None:
    # Another thread may have held it when this process was forked.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


_PROCESS = ("random", "numpy", "torch")


def _find(roots: tuple[Any, ...]) -> tuple[dict[str, _Generator], list[str]]:
    """Generators by where they were found, and what cannot be seeded."""
    found: dict[str, _Generator] = {"random": _Random(_python), "numpy": _RandomState(_numpy)}
    known = {id(_python), id(_numpy), id(_numpy._bit_generator)}
    torch = sys.modules.get("torch")
    if torch is not None:
        found["torch"] = _Torch(torch.default_generator)
        known.add(id(torch.default_generator))
    untied: list[str] = []
    for where, thing in reach(roots, untied.append):
        generator = _generator(thing)
        same = getattr(thing, "bit_generator", thing)
        if generator is not None and not known & {id(thing), id(same)}:
            known |= {id(thing), id(same)}
            if _works(generator):
                found[where] = generator
            else:
                untied.append(f"{type(thing).__module__}.{type(thing).__qualname__}")
    return found, sorted(set(untied))


def _generator(thing: Any) -> _Generator | None:
    if isinstance(thing, random.Random):
        return _Random(thing)
    if isinstance(thing, np.random.RandomState):
        return _RandomState(thing)
    if isinstance(thing, np.random.Generator):
        return _BitGenerator(thing.bit_generator)
    if isinstance(thing, np.random.BitGenerator):
        return _BitGenerator(thing)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(thing, torch.Generator):
        return _Torch(thing)
    return None


def _works(generator: _Generator) -> bool:
    """Whether generator can be seeded: what draws from the system's entropy cannot."""
    try:
        state = generator.save()
        generator.seed(1)
        generator.restore(state)
    except Exception:
        return False
    return True


# Those of the modules' functions.
_python: random.Random = random.random.__self__  # type: ignore[attr-defined]
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
        else:  # which set_bit_generator has put there
            self._generator.set_state({**type(bits)(number).state, "has_gauss": 0, "gauss": 0.0})


class _BitGenerator:
    def __init__(self, bits: Any) -> None:
        self._bits = bits

    def save(self) -> Any:
        return self._bits.state

    def restore(self, state: Any) -> None:
        self._bits.state = state

    def seed(self, number: int) -> None:
        if type(self._bits) is np.random.PCG64:  # numpy's default, three times as fast as anew
            state = {"state": number & (1 << 128) - 1, "inc": number >> 128 | 1}
            self._bits.state = {"bit_generator": "PCG64", "state": state, "has_uint32": 0, "uinteger": 0}
        else:
            self._bits.state = type(self._bits)(number).state


class _Torch:
    def __init__(self, generator: Any) -> None:
        self._generator = generator
        self.save, self.restore = generator.get_state, generator.set_state

    def seed(self, number: int) -> None:
        self._generator.manual_seed(number & (1 << 63) - 1)
