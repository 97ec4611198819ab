"""Loader: batches for a training loop, with the parameters of torch's DataLoader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import _arguments
from ._dataset_figures import with_figures
from ._device import check_device, decoding_gpu, gpu_options, has_cuda, later_gpu
from ._epoch_batches import EpochBatches
from ._epoch_counter import EpochCounter
from ._errors import ArgumentError
from ._image_format import image_format
from ._loader_seed import LoaderSeed
from ._loader_text import described
from ._random_draws import draws
from ._ranks import rank_and_world, threads
from ._read_options import FieldMap
from ._samplers import GivenOrder
from ._seeding import warn_of_unseeded
from ._selection import dataset_of, select
from ._source import Source
from ._tensors import BatchFields, collates_by_default, dtype_name, extra_fields
from ._views import checked_dtype, plan_of, views_of
from ._warnings import all_splits, python_runs
from ._worker_arguments import check_worker_arguments, prefetched

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from typing_extensions import Unpack

    from ._batch_types import Indices, Options, Samples, Value, Weights
    from .dataset import Dataset

Batch = TypeVar("Batch", covariant=True)
Collated = TypeVar("Collated")

_ON_ERROR = {"raise": "fail", "skip": "skip", "substitute": "substitute"}


class Loader(Generic[Batch]):
    """Batches of a dataset: `for x, y in Loader("out.lmdb", batch_size=256, shuffle=True)`.

    A batch is a tuple of tensors in the order of `fields` (numpy arrays if torch is not installed), which belong to the
    caller. Images have the shape (N, C, H, W) and are uint8 unless the transforms or `dtype` change that. Labels are
    int64, or float32 if they are numbers to predict. Keys and columns are lists of texts.

    The library's threads read, decode and transform the next batches while the loop works; there are no worker
    processes. The random draws of an epoch depend only on the seed, the epoch and the sample, not on the format or the
    number of threads and ranks. This holds for transforms in Python too: for each sample, the generators of Python,
    numpy and torch, and those that a transform holds, are seeded and afterwards restored (docs/python.md).

    Each iteration is one epoch: the next one, or the one given to `set_epoch`. Several iterators may be used at the
    same time. An abandoned iterator stops its threads. A Loader can be pickled, and used in a forked process.

    Args:
        path: of the dataset: an LMDB, an HDF5 file, tar or TFRecord shards (a pattern), or a folder of images. A list
            of paths loads one dataset after the other, as a ConcatDataset; fields and classes must be the same. Also a
            `dsconv.Dataset`, or torch's Subset or ConcatDataset of Datasets, whose transform and target_transform are
            used if none are given here.
        batch_size: samples per batch, for each rank.
        transforms: give all images the same size: transforms of torchvision (v1 or v2), Albumentations or
            `dsconv.transforms`, any callable that takes a PIL image, or ops such as "rrc:224,flip,normalize". The first
            transform without a native equivalent and all after it run in Python, and a warning names them: those of
            torchvision and Albumentations on the threads, from the first of your own on in the iterating thread. None:
            the images have one size.
        shuffle: True, False, or the name of an order, such as "block:64:1024", "balanced" or "weighted".
        seed: of the order and of the random draws. None: torch.initial_seed() when the first epoch starts, so that
            torch.manual_seed decides it (0 without torch). With several ranks, which must agree, None is 0, as in
            DistributedSampler, with a warning.
        num_workers: threads; None is the number of cores, divided by LOCAL_WORLD_SIZE. 0 loads each batch in the loop's
            thread when the loop asks for it.
        prefetch_factor: batches to prefetch for each of the num_workers; None is 2 batches in all.
        pin_memory: put batches in pinned memory if CUDA is available.
        drop_last: leave out the last samples that fill no batch on every rank. Without it, the last batch is smaller.
            Ranks then repeat up to world_size - 1 samples to have equally many, as DistributedSampler does; the
            repeated samples have the index -1.
        split: load this split of the dataset, or these of a list. None loads all samples, and warns if splits are
            shuffled together.
        fields: names of the fields of a batch: "image", "label", "index" (of the sample in `loader.dataset`; -1 is
            padding), "key", the dataset's extra fields, and the columns of its label table. Masks, boxes and extra
            images are transformed together with the image. None is ("image", "label").
        sampler: an iterable of indices in `loader.dataset`, such as a torch sampler: this rank's epoch, which is read
            when the epoch starts. Its set_epoch is called if it has one.
        collate_fn: called with a list of samples, which are tuples as in a DataLoader; returns the batch. It runs in
            the loop's thread and needs the batch to be split into samples first, so MixUp among the transforms is
            faster. Its random draws depend on the seed, the epoch, the batch's position and the rank.
        rank, world_size: of the processes that share an epoch. None takes them from torch.distributed, else from the
            environment, at the start of each epoch.
        dtype: of the images: "uint8", "uint16", "float32", "float16", "bfloat16" or torch's. Floats are from 0 to 1,
            or normalised if the transforms do that. "uint16" keeps all bits of 16-bit images, and multiplies 8-bit
            values by 257. All other dtypes convert 16-bit images to 8 bits as Pillow does: grey values above 255
            become 255, colours keep their high byte, and the end of the epoch warns of it.
        memory_format: torch.channels_last, or None.
        device: of the batches. Copies to CUDA run on a separate stream, one batch ahead; use a batch on the stream that
            is current when the loop gets it, or record_stream() it for others.
        cache: "encoded" or "decoded" keeps samples in memory, once per machine; "decoded:8GB" limits the memory.
        on_error: the handling of a sample that cannot be read, decoded or transformed: "raise", "skip" (the batch is
            smaller) or "substitute" (by another sample of the epoch). A warning has the cause of the first one, and
            `bad()` lists all. A batch without any good sample is always an error, and so is a sample for which no
            substitute is found.
        transform: the same as transforms, by ImageFolder's name. Give one of them.
        target_transform: called in the loop's thread with each label, an int or float (a row of several), before
            batches are collated as by default_collate. Its random draws are as collate_fn's.
        indices: load only these samples of what path and split name, in this order, as torch's Subset. All other
            indices then count positions in this list.
        weights: for shuffle="weighted": one for each sample. An epoch draws as many samples as there are, with
            replacement, as WeightedRandomSampler; "weighted:N" draws N.
        batch_sampler: an iterable of lists of indices in `loader.dataset`, one for each batch: this rank's epoch, which
            is read when the epoch starts. It replaces batch_size, shuffle, sampler and drop_last.
        strict: raise an error if transforms would run in Python.
        decode: "exact" (Pillow's pixels), or "fast": decode JPEGs at a reduced size if that is large enough.
        orientation: rotate images as their EXIF data says. Pillow and ImageFolder do not.
        color: "rgb" or "gray".
        tail: used instead of drop_last: "repeat" (the default); "drop"; "pad", as "repeat", but repeated samples also
            have the label -1; or "uneven", which evaluates each sample once on any number of ranks.
        label_dtype: of the labels: "int64" (the default), "uint8" or "uint16". Numbers to predict are float32.
        max_pixels: a larger image is a bad sample. This also limits the memory for an image. None is Pillow's limit,
            178,956,970.
        views: several views of each image, from one read and one decode: a number, such as 2 for SimCLR, of which each
            draws for itself; or the transforms of each view, in place of transforms, such as DINO's multi-crop. The
            batch's images are a list of tensors then, one for each view, as default_collate makes of a transform that
            returns a list; collate_fn gets samples whose image is such a list. See `view_seeds`.
        normalize: "dataset": images become floats, normalised by the mean and deviation of the dataset's training
            images, which ``pack(..., stats=True)`` recorded; the Loader's repr shows them. The same as transforms that
            end in "normalize:dataset", before RandomErasing and mixing. "device": images go to the device as bytes, a
            quarter of what floats take, and become what the transforms and dtype say there, element for element as on
            the CPU: flips, normalisation, layout, dtype, RandomErasing, MixUp and CutMix, on the stream of the copies.
            So dtype="uint8" does not contradict transforms that end in floats then. None: the library's threads do all
            of it.
        decoder: "gpu" decodes and transforms JPEGs on the NVIDIA GPU that `device` names, or the current one, which
            set_device() may still choose before an epoch; batches are there. What the GPU cannot decode, such as a PNG,
            and transforms other than cropping, one resize and flips are done on the CPU; `stats()` counts both. It
            needs PyTorch and nvJPEG.
        map, source_format: how a dataset of another program is read, see `Dataset`.
        nvjpeg: path of nvJPEG's library (libnvjpeg.so), for decoder="gpu". None looks in the usual places and in the
            package nvidia-nvjpeg.
        generator: a torch.Generator, whose initial_seed() is the seed. Nothing is drawn from it.
        in_order, multiprocessing_context, persistent_workers, pin_memory_device, timeout, worker_init_fn: accepted, as
            DataLoader's, with values that need no worker processes. Other values are an error that says what to do.

    Raises:
        FileNotFoundError: the dataset does not exist.
        ValueError, TypeError: an argument is wrong, or does not fit the dataset.
        dsconv.Error: any other error. Errors of a sample are raised with its batch.
    """

    @overload
    def __init__(
        self: Loader[tuple[Tensor, Tensor]],
        path: Samples,
        batch_size: int | None = None,
        transforms: Any = None,
        shuffle: bool | str | None = False,
        *,
        fields: None = None,
        collate_fn: None = None,
        target_transform: Callable[[Any], float | Tensor] | None = None,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: Loader[tuple[list[Tensor], Tensor]],
        path: Samples,
        batch_size: int | None = None,
        transforms: Any = None,
        shuffle: bool | str | None = False,
        *,
        views: int | Sequence[Any],
        fields: None = None,
        collate_fn: None = None,
        target_transform: Callable[[Any], float | Tensor] | None = None,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: Loader[Collated],
        path: Samples,
        batch_size: int | None = None,
        transforms: Any = None,
        shuffle: bool | str | None = False,
        *,
        fields: Sequence[str] | None = None,
        collate_fn: Callable[[list[Any]], Collated],
        target_transform: Callable[[Any], object] | None = None,
        views: int | Sequence[Any] | None = None,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: Loader[tuple[Value, ...]],
        path: Samples,
        batch_size: int | None = None,
        transforms: Any = None,
        shuffle: bool | str | None = False,
        *,
        fields: Sequence[str],
        collate_fn: None = None,
        target_transform: Callable[[Any], object] | None = None,
        views: int | Sequence[Any] | None = None,
        **options: Unpack[Options],
    ) -> None: ...

    def __init__(
        self,
        path: Any,
        batch_size: int | None = None,
        transforms: Any = None,
        shuffle: bool | str | None = False,
        seed: int | None = None,
        num_workers: int | None = None,
        prefetch_factor: int | None = None,
        pin_memory: bool = True,
        drop_last: bool = False,
        split: str | Sequence[str] | None = None,
        fields: Sequence[str] | None = None,
        sampler: Any = None,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        dtype: Any = None,
        memory_format: Any = None,
        device: Any = None,
        cache: str | None = None,
        on_error: str = "raise",
        *,
        transform: Any = None,
        target_transform: Callable[[Any], Any] | None = None,
        indices: Indices | None = None,
        weights: Weights | None = None,
        batch_sampler: Any = None,
        strict: bool = False,
        decode: str = "exact",
        orientation: bool = False,
        color: str = "rgb",
        tail: str | None = None,
        label_dtype: Any = None,
        max_pixels: int | None = None,
        views: int | Sequence[Any] | None = None,
        normalize: str | None = None,
        decoder: str = "cpu",
        nvjpeg: Any = None,
        generator: Any = None,
        in_order: bool = True,
        multiprocessing_context: Any = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        timeout: float = 0,
        worker_init_fn: Any = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None:
        from .transforms import translate

        check_worker_arguments(
            in_order=in_order,
            multiprocessing_context=multiprocessing_context,
            persistent_workers=persistent_workers,
            pin_memory_device=pin_memory_device,
            timeout=timeout,
            worker_init_fn=worker_init_fn,
        )
        order, drop_last = _arguments.order(shuffle), _arguments.flag("drop_last", drop_last)
        selection = select(path, split, indices, map, source_format)
        if target_transform is None:
            target_transform = selection.of_datasets("target_transform")
        _arguments.check_combination(
            order,
            drop_last,
            tail,
            weights,
            sampler=sampler,
            batch_sampler=batch_sampler,
            batch_size=batch_size,
            collate_fn=collate_fn,
            target_transform=target_transform,
        )
        _arguments.choice("on_error", on_error, list(_ON_ERROR))
        self.path, self.split = selection.path, selection.split
        self.batch_size = None if batch_sampler is not None else _arguments.whole("batch_size", batch_size, 1)
        self.drop_last = drop_last or tail == "drop"
        self._seed = LoaderSeed(seed, generator)
        self.num_workers = threads(num_workers)
        self.prefetch_factor = prefetch_factor
        prefetch = prefetched(prefetch_factor, self.num_workers)
        on_gpu = _arguments.choice("decoder", decoder, ("cpu", "gpu")) == "gpu"
        self._given_device = device
        self.device: torch.device | None = decoding_gpu(device) if on_gpu else check_device(device)
        self.collate_fn = None if collates_by_default(collate_fn) else collate_fn
        if fields is None:
            fields = selection.of_datasets("fields") or ("image", "label")
        self.fields = _arguments.names("fields", fields)
        given = None
        if sampler is not None or batch_sampler is not None:
            given = GivenOrder(sampler, batch_sampler)
        self._given = given
        chosen = selection.transform_of(transform, transforms, views)
        self._views = views_of(views, chosen, transform is not None or transforms is not None)
        plan = translate(chosen) if self._views is None else checked_dtype(plan_of(self._views), dtype)
        python_runs(plan, _arguments.flag("strict", strict))
        if normalize == "dataset":
            plan, normalize = with_figures(plan, views), None
        rests = (plan.rest,) if self._views is None else self._views.rests
        warn_of_unseeded(*rests, self.collate_fn, target_transform, stacklevel=2)
        self._plan = plan
        defers = _arguments.on_device(normalize, decoder, nvjpeg, self.collate_fn, plan, dtype=dtype, color=color)
        images = image_format(plan, dtype, memory_format, defers)
        self._given_rank = rank is not None
        self.rank, self.world_size = rank_and_world(rank, world_size)
        if max_pixels is None:
            max_pixels = selection.of_datasets("max_pixels")
        self._source = Source(
            **selection.configuration(),
            batch=self.batch_size or GivenOrder(None, batch_sampler).largest,
            workers=self.num_workers,
            prefetch=prefetch,
            synchronous=self.num_workers == 0,
            order=order,
            seed=self._seed.value,
            tail=tail or ("drop" if drop_last else "repeat"),
            rank=self.rank,
            world_size=self.world_size,
            fields=extra_fields(self.fields),
            label_dtype="" if label_dtype is None else dtype_name(label_dtype, "label_dtype"),
            on_error=_ON_ERROR[on_error],
            cache=_arguments.text("cache", cache),
            augment=plan.words if self._views is None else "",
            views=None if self._views is None else self._views.words,
            color=_arguments.text("color", color),
            orientation=_arguments.flag("orientation", orientation),
            decode=_arguments.text("decode", decode),
            any_size=plan.rest is not None,
            max_pixels=_arguments.pixel_limit(max_pixels),
            **images.native,
            deferred=defers and not on_gpu,
            **({"decoder": "gpu", "gpu": gpu_options(self.device, nvjpeg)} if on_gpu else {}),
            weights=_arguments.sample_weights(weights),
        )
        batch_fields = BatchFields(self._source, self.fields, channels_last=images.planes)
        self.pin_memory = _arguments.flag("pin_memory", pin_memory) and has_cuda(self.device)
        self._batches = EpochBatches(
            self._source,
            batch_fields,
            plan,
            images,
            given,
            target_transform=target_transform,
            collate_fn=self.collate_fn,
            device=self.device,
            on_error=on_error,
            drop_last=self.drop_last,
            pin_memory=self.pin_memory,
            threads=self.num_workers,
            prefetch=prefetch,
        )
        self._seed_matters = order != "none" or any(
            draws(p) for p in ([plan] if self._views is None else self._views.plans)
        )
        if order != "none" and selection.indices is None:
            all_splits(self.path, self.split, self._source.splits)
        self._selection = selection
        self._epochs = EpochCounter()
        self._dataset: Any = selection.given

    # The dataset.

    def __len__(self) -> int:
        """The number of this rank's batches in an epoch."""
        self._join()
        return self._source.batches if self._given is None else self._given.count(self.batch_size, self.drop_last)

    def __repr__(self) -> str:
        return described(self, self._source, self._plan, self._given)

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

    # Epochs.

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
        self._prepare()
        gpu = later_gpu(self._given_device, self._source.gpu)
        if gpu != self._source.gpu:
            self.device = decoding_gpu(f"cuda:{gpu}")
            self._source.change(gpu={**self._source.configuration["gpu"], "device": gpu})
        return self._epochs.iterate(self._batches.start)

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
            self.rank, self.world_size = found
            self._source.change(rank=self.rank, world_size=self.world_size)

    def close(self) -> None:
        """Stops all iterators and closes the dataset. The next use opens it again."""
        self._source.close()
        if self._dataset is not None:
            self._dataset.close()
