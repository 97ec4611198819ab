"""The epochs of a Loader: its iterations, and the states from which they are resumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import _arguments
from ._device import decoding_gpu, later_gpu
from ._errors import ArgumentError
from ._loader_figures import LoaderFigures

if TYPE_CHECKING:
    import torch

    from ._changed_transforms import GivenTransforms
    from ._epoch_batches import EpochBatches
    from ._epoch_counter import EpochCounter

Batch = TypeVar("Batch", covariant=True)


class LoaderEpochs(LoaderFigures, Generic[Batch]):
    """The part of a Loader that iterates. The constructor of Loader sets its attributes."""

    device: torch.device | None
    _given_device: Any
    _epochs: EpochCounter
    _batches: EpochBatches
    _transforms: GivenTransforms

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration this epoch, counted from 0. Each epoch has its own order and augmentations."""
        self._epochs.set(epoch)
        if self._given is not None:
            self._given.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """The state after the last batch of the loop. Save it with the weights of the model."""
        self._prepare()
        epoch, position = self._epochs.reached
        if self._given is not None:
            return {"epoch": epoch, "position": position, "seed": self.seed, "order": "sampler"}
        state: dict[str, Any] = self._source.call("state", epoch=epoch, position=position)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resumes from a state: the next iteration is the rest of its epoch. Batch size, number of ranks and format may
        differ from before. With a sampler, it is the rest of the sampler's indices for that epoch. A Loader whose seed
        was not given continues with the state's.

        Raises:
            ValueError: the state has another order, seed or set of samples.
        """
        state = _arguments.state(state)
        if self._given is None:
            self._source.call("check", **{**state, "seed": self._seed.accepted(state["seed"], self._source.seed)})
        elif state["order"] != "sampler" or self._seed.accepted(state["seed"], self.seed) != self.seed:
            raise ArgumentError("resume: the state is not from a Loader with a sampler and this seed")
        self._seed.adopt(state["seed"])
        self._epochs.resume(state["epoch"], state["position"])

    def __iter__(self) -> Iterator[Batch]:
        self._transforms.check(self._dataset)
        self._prepare()
        gpu = later_gpu(self._given_device, self._source.gpu)
        if gpu != self._source.gpu:
            vars(self)["device"] = decoding_gpu(f"cuda:{gpu}")
            self._source.change(gpu={**self._source.configuration["gpu"], "device": gpu})
        return self._epochs.iterate(self._batches.start)

    def close(self) -> None:
        """Stops all iterators and closes the dataset. The next use opens it again."""
        self._source.close()
        if self._dataset is not None:
            self._dataset.close()
