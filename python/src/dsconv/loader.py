"""Loader: batches for a training loop, with the parameters of torch's DataLoader."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments
from ._bad_samples import BadSamples
from ._batch_stream import BatchStream
from ._device import check_device, has_cuda, pin, to_device
from ._epoch_counter import Batches, EpochCounter
from ._epoch_order import EpochOrder
from ._errors import ArgumentError
from ._mixup import BatchMixer
from ._python_transforms import PythonTransforms, stack
from ._ranks import rank_and_world, threads
from ._seeding import Generators, warn_of_unseeded
from ._source import Source
from ._tensors import BatchFields, collates_by_default, dtype_name, extra_fields, with_image_format
from ._warnings import all_splits, narrowed, python_runs

if TYPE_CHECKING:
    from .dataset import Dataset

_ON_ERROR = {"raise": "fail", "skip": "skip", "substitute": "substitute"}
_DTYPES = ("uint8", "uint16", "float32", "float16", "bfloat16")


class Loader:
    """Batches of a dataset: `for x, y in Loader("out.lmdb", batch_size=256, shuffle=True)`.

    A batch is a tuple of tensors in the order of `fields` (numpy arrays if torch is not installed), which belong to the
    caller. Images have the shape (N, C, H, W) and are uint8 unless the transforms or `dtype` change that. Labels are
    int64, or float32 if they are numbers to predict.

    The library's threads read, decode and transform the next batches while the loop works; there are no worker
    processes. The random draws of an epoch depend only on the seed, the epoch and the sample, not on the format or the
    number of threads and ranks. This holds for transforms in Python too: for each sample, the generators of Python,
    numpy and torch, and those that a transform holds, are seeded and afterwards restored (docs/python.md).

    Each iteration is one epoch: the next one, or the one given to `set_epoch`. Several iterators may be used at the
    same time. An abandoned iterator stops its threads. A Loader can be pickled, and used in a forked process.

    Args:
        path: of the dataset: an LMDB, an HDF5 file, tar or TFRecord shards (a pattern), or a folder of images.
        batch_size: samples per batch, for each rank.
        transforms: give all images the same size: transforms of torchvision (v1 or v2), Albumentations or
            `dsconv.transforms`, any callable that takes a PIL image, or ops such as "rrc:224,flip,normalize". The first
            transform without a native equivalent and all after it run in Python, and a warning names them: those of
            torchvision and Albumentations on the threads, from the first of your own on in the iterating thread. None:
            the images have one size.
        shuffle: True, False, or the name of an order, such as "block:64:1024" or "balanced".
        seed: of the order and of the transforms.
        num_workers: threads; None or 0 is the number of cores, divided by LOCAL_WORLD_SIZE.
        prefetch_factor: batches to prefetch; None is 2.
        pin_memory: put batches in pinned memory if CUDA is available.
        drop_last: leave out the last samples that fill no batch on every rank. Without it, the last batch is smaller.
            Ranks then repeat up to world_size - 1 samples to have equally many, as DistributedSampler does; the
            repeated samples have the index -1.
        split: load this split of the dataset. None loads all samples, and warns if splits are shuffled together.
        fields: names of the fields of a batch: "image", "label", "index" (of the sample in `loader.dataset`; -1 is
            padding), "key", and the dataset's extra fields. Masks, boxes and extra images are transformed together
            with the image.
        sampler: an iterable of indices in `loader.dataset`, such as a torch sampler: this rank's epoch. Its set_epoch
            is called if it has one.
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
        device: of the batches. Copies to CUDA run on a separate stream, one batch ahead.
        cache: "encoded" or "decoded" keeps samples in memory, once per machine; "decoded:8GB" limits the memory.
        on_error: the handling of a sample that cannot be read, decoded or transformed: "raise", "skip" (the batch is
            smaller) or "substitute" (by another sample of the epoch). A warning has the cause of the first one, and
            `bad()` lists all. A batch without any good sample is always an error, and so is a sample for which no
            substitute is found.
        strict: raise an error if transforms would run in Python.
        decode: "exact" (Pillow's pixels), or "fast": decode JPEGs at a reduced size if that is large enough.
        orientation: rotate images as their EXIF data says. Pillow and ImageFolder do not.
        color: "rgb" or "gray".
        tail: used instead of drop_last: "repeat" (the default); "drop"; "pad", as "repeat", but repeated samples also
            have the label -1; or "uneven", which evaluates each sample once on any number of ranks.
        label_dtype: of the labels: "int64" (the default), "uint8" or "uint16". Numbers to predict are float32.
        max_pixels: a larger image is a bad sample. This also limits the memory for an image. None is Pillow's limit,
            178,956,970.

    DataLoader's other arguments are accepted only with a value that requests nothing: None, False, 0 or "".

    Raises:
        FileNotFoundError: the dataset does not exist.
        ValueError, TypeError: an argument is wrong, or does not fit the dataset.
        dsconv.Error: any other error. Errors of a sample are raised with its batch.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        batch_size: int,
        transforms: Any = None,
        shuffle: bool | str | None = False,
        seed: int = 0,
        num_workers: int | None = None,
        prefetch_factor: int | None = None,
        pin_memory: bool = True,
        drop_last: bool = False,
        split: str | None = None,
        fields: Sequence[str] = ("image", "label"),
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
        strict: bool = False,
        decode: str = "exact",
        orientation: bool = False,
        color: str = "rgb",
        tail: str | None = None,
        label_dtype: str | None = None,
        max_pixels: int | None = None,
        **dataloader: Any,
    ) -> None:
        from .transforms import translate

        _arguments.check_dataloader_arguments(dataloader)
        order, drop_last = _arguments.order(shuffle), _arguments.flag("drop_last", drop_last)
        _arguments.check_combination(sampler, order, drop_last, tail, collate_fn)
        _arguments.choice("on_error", on_error, list(_ON_ERROR))
        self.path, self.split = _arguments.path(path), _arguments.text("split", split) or None
        self.batch_size = _arguments.whole("batch_size", batch_size, 1)
        self.drop_last = drop_last or tail == "drop"
        self.seed = _arguments.whole("seed", seed, 0, _arguments.LARGEST_SEED)
        self.prefetch_factor = 2 if prefetch_factor is None else _arguments.whole("prefetch_factor", prefetch_factor, 1)
        self.device = check_device(device)
        self.collate_fn = None if collates_by_default(collate_fn) else collate_fn
        self.num_workers = threads(num_workers)
        self.fields = _arguments.names("fields", fields)
        self._sampler, self._on_error = sampler, on_error
        plan = translate(transforms)
        python_runs(plan, _arguments.flag("strict", strict))
        warn_of_unseeded(plan.rest, self.collate_fn, stacklevel=2)
        self._python = plan.rest is not None
        self._channels_last = _arguments.channels_last(memory_format)
        self._dtype = None if dtype is None else _arguments.choice("dtype", dtype_name(dtype), _DTYPES)
        # Albumentations without ToTensorV2 returns HWC arrays, which a DataLoader collates to NHWC.
        nhwc = self._channels_last or plan.kind == "array"
        native = {"dtype": self._dtype or plan.dtype or "uint8", "layout": "nhwc" if nhwc else "nchw"}
        if self._python:
            if self._dtype == "uint16":
                names = ", ".join(plan.named)
                raise ArgumentError(f'dtype="uint16": transforms that run in Python ({names}) get 8-bit images')
            tensor = plan.kind in ("tensor", "tv_tensor")
            native = {"dtype": plan.dtype or "uint8", "layout": "nchw" if tensor else "nhwc"}
        self._warned_narrowed = False
        self._given_rank = rank is not None
        self.rank, self.world_size = rank_and_world(rank, world_size)
        self._source = Source(
            path=self.path,
            batch=self.batch_size,
            workers=self.num_workers,
            prefetch=self.prefetch_factor,
            order=order,
            seed=self.seed,
            tail=tail or ("drop" if drop_last else "repeat"),
            rank=self.rank,
            world_size=self.world_size,
            split=self.split or "",
            fields=extra_fields(self.fields),
            label_dtype="" if label_dtype is None else dtype_name(label_dtype, "label_dtype"),
            on_error=_ON_ERROR[on_error],
            cache=_arguments.text("cache", cache),
            augment=plan.words,
            color=_arguments.text("color", color),
            orientation=_arguments.flag("orientation", orientation),
            decode=_arguments.text("decode", decode),
            any_size=self._python,
            max_pixels=_arguments.pixel_limit(max_pixels),
            **native,
        )
        planes = self._channels_last and not self._python and plan.kind != "array"
        self._fields = BatchFields(self._source, self.fields, channels_last=planes)
        self.pin_memory = _arguments.flag("pin_memory", pin_memory) and has_cuda(self.device)
        self._memory = None if self._python else self._fields.memory(self.pin_memory and self.collate_fn is None)
        self._bad = BadSamples(self._source)
        self._python_transforms = None
        if plan.rest is not None:
            self._python_transforms = PythonTransforms(
                self._source,
                self._fields,
                plan.rest,
                plan.kind,
                threads=self.num_workers,
                prefetch=self.prefetch_factor,
                on_error=on_error,
                seed=self.seed,
                bad=self._bad,
                pads=tail == "pad" and not plan.mixers,
            )
        if order != "none":
            all_splits(self.path, self.split, self._source.splits)
        self._mixer = None
        if plan.mixers:
            self._mixer = BatchMixer(plan.mixers, self._source, self._fields.fields, seed=self.seed)
        self._epochs = EpochCounter()
        self._dataset: Dataset | None = None

    # The dataset.

    def __len__(self) -> int:
        """The number of this rank's batches in an epoch."""
        self._join()
        if self._sampler is None:
            return self._source.batches
        n = len(self._sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    @property
    def classes(self) -> list[str]:
        """The names of the classes; a label is an index into this list."""
        return self._source.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class."""
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def dataset(self) -> Dataset:
        """The same samples one at a time, as an ImageFolder, without transforms."""
        from .dataset import Dataset

        if self._dataset is None:
            self._dataset = Dataset(self.path, self.split)
        return self._dataset

    @property
    def sampler(self) -> Any:
        """The sampler, else this Loader: the object whose set_epoch frameworks call."""
        return self if self._sampler is None else self._sampler

    @property
    def batch_sampler(self) -> None:
        """None; it exists because frameworks look for a DataLoader's."""
        return None

    def clock(self) -> dict[str, float]:
        """Measurements so far. In seconds: read, decode, augment and collate, summed over the threads, and wait, of the
        loop. Also the numbers of images and bytes, and depth, the mean number of batches that were ready."""
        clock: dict[str, float] = self._source.call("clock")
        return clock

    def estimate(self) -> dict[str, int]:
        """The memory of an epoch, in bytes: workers, batches, cache, order; and batch_bytes, the size of one batch."""
        if self._python:
            raise ArgumentError("estimate: the memory of transforms that run in Python is unknown")
        estimate: dict[str, int] = self._source.call("estimate")
        return estimate

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
        if self._sampler is not None and hasattr(self._sampler, "set_epoch"):
            self._sampler.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """The state after the last batch of the loop. Save it with the weights of the model."""
        epoch, position = self._epochs.reached
        if self._sampler is not None:
            return {"epoch": epoch, "position": position, "seed": self.seed, "order": "sampler"}
        state: dict[str, Any] = self._source.call("state", epoch=epoch, position=position)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resumes from a state: the next iteration is the rest of its epoch. Batch size, number of ranks and format may
        differ from before. With a sampler, it is the rest of the sampler's indices for that epoch.

        Raises:
            ValueError: the state has another order, seed or set of samples.
        """
        state = _arguments.state(state)
        if self._sampler is None:
            self._source.call("check", **state)
        elif state["order"] != "sampler" or state["seed"] != self.seed:
            raise ArgumentError("resume: the state is not from a Loader with a sampler and this seed")
        self._epochs.resume(state["epoch"], state["position"])

    def __iter__(self) -> Iterator[Any]:
        self._join()
        return self._epochs.iterate(self._batches)

    def _join(self) -> None:
        """Updates rank and world size: Lightning's fit() starts the other processes after the constructor."""
        found = (self.rank, self.world_size) if self._given_rank else rank_and_world(None, None)
        if found != (self.rank, self.world_size):
            self.rank, self.world_size = found
            self._source.change(rank=self.rank, world_size=self.world_size)

    def _batches(self, epoch: int, position: int) -> Batches:
        batches = self._python_batches(epoch, position) if self._python else self._native_batches(epoch, position)
        return batches if self.device is None else to_device(batches, self.device)

    def _native_batches(self, epoch: int, position: int) -> Batches:
        assert self._memory is not None
        # Started here, not in the generator: its threads work while the loop prepares.
        stream = BatchStream(self._source, self._memory, epoch, position, self._sampled())
        return self._collated(stream, self._collator(epoch))

    def _collated(self, stream: BatchStream, collate: Callable[[Any, int], Any] | None) -> Batches:
        try:
            for raw in stream:
                batch = self._fields.convert(raw)
                if raw.bad:
                    self._bad.warn("skipped" if self._on_error == "skip" else "replaced")
                yield (batch if collate is None else collate(list(zip(*batch)), raw.end)), raw.end
                del batch, raw  # their block is free when the loop has no tensor of it any more
            self._warn_narrowed()
        finally:
            stream.close()

    def _python_batches(self, epoch: int, position: int) -> Batches:
        assert self._python_transforms is not None
        order = EpochOrder(self._source, self._sampled(), epoch, position, self.batch_size, self.world_size)
        collate = self._collator(epoch)
        for samples, padding, end in self._python_transforms.epoch(order, self.drop_last):
            if self._mixer is not None:
                batch = self._mixer(self._collated_here(samples), padding, epoch, end)
                samples = list(zip(*batch)) if collate is not None else samples
            elif collate is None:
                batch = self._collated_here(samples)
            if collate is None:
                yield (pin(batch) if self.pin_memory else batch), end
            else:
                yield collate(samples, end), end
        self._warn_narrowed()

    def _warn_narrowed(self) -> None:
        """Warns once of 16-bit images that were converted to 8 bits."""
        found = self._source.call("narrowed")
        if found["times"] and not self._warned_narrowed:
            self._warned_narrowed = True
            narrowed(found)

    def _collator(self, epoch: int) -> Callable[[Any, int], Any] | None:
        """A function that calls collate_fn and pins the batch; None without collate_fn. Its random draws depend on the
        seed, the epoch, the position after the batch and the rank."""
        collate_fn, rank = self.collate_fn, self.rank
        if collate_fn is None:
            return None
        generators = Generators(self.seed, collate_fn)

        def collate(samples: list[Any], end: int) -> Any:
            with generators.borrowed():
                generators.seed(epoch, "batch", end, rank)
                batch = collate_fn(samples)
            return pin(batch) if self.pin_memory else batch

        return collate

    def _collated_here(self, samples: list[Any]) -> tuple[Any, ...]:
        return with_image_format(stack(samples), self.fields, self._dtype, self._channels_last)

    def _sampled(self) -> np.ndarray | None:
        """The indices that the sampler returns; None without a sampler."""
        return None if self._sampler is None else _arguments.sampled(self._sampler, self._source.samples)

    def close(self) -> None:
        """Stops all iterators and closes the dataset. The next use opens it again."""
        self._source.close()
        if self._dataset is not None:
            self._dataset.close()
