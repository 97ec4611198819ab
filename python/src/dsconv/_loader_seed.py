"""The seed of a Loader, which PyTorch's decides where none is given."""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from typing import Any

from ._arguments import LARGEST_SEED, whole
from ._errors import ArgumentError, ArgumentTypeError
from ._short_messages import shown


class LoaderSeed:
    """A seed that is given, or taken from a generator or from PyTorch when the first epoch starts.

    Several ranks must agree on an epoch's order. Nothing says that their generators do, so without a given seed it is
    then 0, as DistributedSampler's.

    A copy in another process, by pickle or fork, has the seed that this one would take at that moment.

    Args:
        seed: the number; None takes the generator's.
        generator: a torch.Generator, of which nothing is drawn; None is PyTorch's own.
    """

    def __init__(self, seed: Any, generator: Any) -> None:
        if seed is not None and generator is not None:
            raise ArgumentError("seed and generator exclude each other")
        if generator is not None and not callable(getattr(generator, "initial_seed", None)):
            raise ArgumentTypeError(f"generator={shown(generator)}: it must be a torch.Generator")
        self._number = None if seed is None else whole("seed", seed, 0, LARGEST_SEED)
        self._generator = generator
        self._given = self._agreed = seed is not None or generator is not None
        self._warned = False
        _all.add(self)

    def of(self, world_size: int) -> int:
        """The seed that an epoch of so many ranks would have now."""
        return 0 if world_size > 1 and not self._agreed else self.value

    @property
    def value(self) -> int:
        """The seed of one rank. It may still change as long as it was neither given nor settled."""
        return self._initial() if self._number is None else self._number

    def settle(self, world_size: int, matters: bool) -> int:
        """The seed for the epochs from now on. Warns once of a seed that is 0 because of several ranks, if it
        matters."""
        if world_size > 1 and not self._agreed and matters and not self._warned:
            self._warned = True
            text = "several ranks must agree on the random draws, and no seed is given: it is 0 in each run"
            warnings.warn(f"{text}; give seed=, another one in each run", stacklevel=4)
        self._number = self.of(world_size)
        return self._number

    def accepted(self, of_state: int, now: int) -> int:
        """The seed that a saved state is compared with now: any seed fits if none was given."""
        return of_state if self._given else now

    def adopt(self, seed: int) -> None:
        """Continues with the seed of a saved state, if none was given. All ranks load the same state."""
        if not self._given:
            self._number, self._agreed = seed, True

    def keep(self) -> None:
        """Makes the present value the seed."""
        self._number = self.value

    def _initial(self) -> int:
        source = self._generator or sys.modules.get("torch")  # without PyTorch there is no seed to follow
        return 0 if source is None else int(source.initial_seed()) & LARGEST_SEED

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_number": self.value, "_generator": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _all.add(self)


_all: weakref.WeakSet[LoaderSeed] = weakref.WeakSet()


def _keep_all() -> None:
    # A forked process may seed its generators in its own way, as a DataLoader's workers do.
    for seed in list(_all):
        seed.keep()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_all)
