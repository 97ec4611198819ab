"""What a Loader tells of itself: its seed, its classes, its samples, and what it has measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import ArgumentError
from ._ranks import rank_and_world
from ._selection import dataset_of

if TYPE_CHECKING:
    from ._loader_seed import LoaderSeed
    from ._samplers import GivenOrder
    from ._selection import Selection
    from ._source import Source
    from .dataset import Dataset


class LoaderFigures:
    """The part of a Loader that answers questions. The constructor of Loader sets its attributes."""

    rank: int
    world_size: int
    _given_rank: bool
    _seed: LoaderSeed
    _seed_matters: bool
    _source: Source
    _given: GivenOrder | None
    _selection: Selection
    _dataset: Any
    _plan: Any

    @property
    def seed(self) -> int:
        """The seed. Without a given one it is PyTorch's, and may change until the first epoch starts; with several
        ranks it is 0."""
        self._join()
        return self._seed.of(self.world_size)

    @property
    def view_seeds(self) -> list[int]:
        """The seed of each of the views: a Loader with that seed and the view's transforms draws the same for a sample
        in an epoch. The first is the Loader's own. Empty without views. Asking settles the seed, as an epoch does."""
        self._prepare()
        return self._source.view_seeds

    @property
    def classes(self) -> list[str]:
        """The names of the classes; a label is an index into this list."""
        return self._source.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class."""
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def dataset(self) -> Dataset[Any]:
        """The same samples one at a time: the Dataset, Subset or ConcatDataset that was given, else a Dataset without
        transforms."""
        if self._dataset is None:
            self._dataset = dataset_of(self._selection)
        dataset: Dataset[Any] = self._dataset
        return dataset

    @property
    def sampler(self) -> Any:
        """The sampler, else this Loader: the object whose set_epoch frameworks call."""
        return self if self._given is None or self._given.sampler is None else self._given.sampler

    @property
    def batch_sampler(self) -> Any:
        """The batch_sampler that was given, or None."""
        return None if self._given is None else self._given.batch_sampler

    def clock(self) -> dict[str, float]:
        """Measurements so far. In seconds: read, decode, augment and collate, summed over the threads, and wait, of the
        loop. Also the numbers of images and bytes, and depth, the mean number of batches that were ready."""
        clock: dict[str, float] = self._source.call("clock")
        return clock

    def estimate(self) -> dict[str, int]:
        """The memory of an epoch, in bytes: workers, batches, cache, order; and batch_bytes, the size of one batch."""
        if self._plan.rest is not None:
            raise ArgumentError("estimate: the memory of transforms that run in Python is unknown")
        estimate: dict[str, int] = self._source.call("estimate")
        return estimate

    def stats(self) -> dict[str, Any]:
        """What the Loader has done so far: {"clock": as `clock()`, "bad": as `bad()`, "decoded": ...}.

        "decoded" counts images by what decoded them: "engine" (the GPU's JPEG engine), "cuda" (its other cores), "cpu",
        and in "reasons" why a JPEG was left to the CPU with decoder="gpu"."""
        stats: dict[str, Any] = self._source.call("stats")
        return {name: stats[name] for name in ("clock", "bad", "decoded")}

    def bad(self) -> dict[str, Any]:
        """Counts the skipped or replaced samples, and lists the first thousand of them.

        The result is {"times": ..., "samples": [...]}. A sample is {"index": its index in `loader.dataset`, "key": ...,
        "message": the cause}."""
        bad: dict[str, Any] = self._source.call("bad")
        return bad

    def _prepare(self) -> None:
        """Settles what an epoch or a state depends on: the rank and the seed."""
        self._join()
        seed = self._seed.settle(self.world_size, self._seed_matters)
        if seed != self._source.seed:
            self._source.change(seed=seed)

    def _join(self) -> None:
        """Updates rank and world size: Lightning's fit() starts the other processes after the constructor."""
        found = (self.rank, self.world_size) if self._given_rank else rank_and_world(None, None)
        if found != (self.rank, self.world_size):
            vars(self).update(rank=found[0], world_size=found[1])
            self._source.change(rank=self.rank, world_size=self.world_size)
