"""The loader: batches for a training loop, with a DataLoader's names and meanings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments
from ._bad import Bad
from ._chosen import Chosen
from ._device import checked, pinned, to_device
from ._epochs import Epochs
from ._generators import Generators, warn_of_others
from ._mixing import Mixing
from ._native import ArgumentError
from ._ranks import rank_and_world, threads
from ._samples import Samples, stack
from ._source import Source
from ._stream import Stream
from ._tensors import Frame, collates_by_default, dtype_name, further_fields, torch_or_none
from ._warnings import all_splits, narrowed, python_runs

if TYPE_CHECKING:
    from .dataset import Dataset

_ON_ERROR = {"raise": "fail", "skip": "skip", "substitute": "substitute"}
_DTYPES = ("uint8", "uint16", "float32", "float16", "bfloat16")


class Loader:
    """Batches of a dataset: `for x, y in Loader("out.lmdb", batch_size=256, shuffle=True)`.

    A batch is a tuple of tensors in the order of `fields` (numpy arrays where torch is not installed), which belong to
    the caller: images of shape (N, C, H, W), uint8 unless the transforms or `dtype` say otherwise, and labels, int64;
    float32 where they are numbers to predict.
    Threads of the library read, decode and transform into their memory while the loop works; there are no worker
    processes. What an epoch draws depends on the seed, the epoch and the sample alone, not on the number of threads,
    of ranks or the format, whether transforms run natively or in Python: for each sample the generators of Python,
    numpy and torch, and those that a transform holds, are seeded and then given back as they were (docs/python.md).

    Iterating is one epoch; each goes on to the next one, or to that of `set_epoch`. Several iterators may be in use.
    An abandoned one is ended with its threads. A Loader may be pickled, and used in a forked process.

    Args:
        path: of the dataset: an LMDB, an HDF5, tar or TFRecord shards (a pattern), or a folder of images.
        batch_size: samples a batch, of this rank.
        transforms: what makes the images one size: torchvision's (v1 or v2), Albumentations', `dsconv.transforms`, any
            callable of a PIL image, or words such as "rrc:224,flip,normalize". What is known runs natively; from the
            first unknown one on Python runs them, and a warning says which: torchvision's and Albumentations' on the
            threads, from the first of your own on in the thread that iterates. None: the images have one size.
        shuffle: True, False, or an order in words, such as "block:64:1024" or "balanced".
        seed: of the order and of what transforms draw.
        num_workers: threads; None or 0 is the number of cores, divided by LOCAL_WORLD_SIZE.
        prefetch_factor: batches made ahead of the loop; None is 2.
        pin_memory: make batches in pinned memory, where there is CUDA.
        drop_last: leave out the samples that fill no batch on every rank. Otherwise the last batch is smaller; where
            ranks would differ, up to world_size - 1 samples are repeated, as by DistributedSampler, with the index -1.
        split: load this split of the dataset; None loads all, and warns if they are shuffled.
        fields: what a batch has, by name: "image", "label", "index" (the sample's number in `loader.dataset`; -1
            is padding), "key", and the dataset's further fields. Masks, boxes and further images are transformed as
            the image is.
        sampler: of a torch sampler's kind: its indices, those of `loader.dataset`, are this rank's epoch. Its
            set_epoch is called if it has one.
        collate_fn: called with a list of samples, tuples as a DataLoader gives them; what it returns is the batch. It
            runs in the loop's thread, and takes a batch apart that was whole: MixUp is faster among the transforms.
            What it draws depends on the seed, the epoch, the batch's place and the rank.
        rank, world_size: of the processes that share an epoch; None asks torch.distributed, then the environment, when
            an epoch begins.
        dtype: of the images: "uint8", "uint16", "float32", "float16", "bfloat16" or torch's; floats are from 0 to 1, or
            normalised where the transforms say so. "uint16" keeps images of 16 bits a channel as they are, and 8-bit
            values become 257 times as much. Any other type has Pillow's 8 bits: grey values above 255 become 255, of
            colors the high byte stays, and a warning at the end of the epoch says so.
        memory_format: torch.channels_last, or None.
        device: where the batches are wanted. Copies to CUDA run on a side stream, one batch ahead.
        cache: "encoded" or "decoded" keeps samples in memory, once a machine; "decoded:8GB" up to that.
        on_error: what becomes of a sample that cannot be read, decoded or transformed: "raise", "skip" (the batch is
            smaller) or "substitute" (by another of the epoch). A warning tells the cause of the first one, `bad()` all.
            A batch of which nothing is left is an error all the same, and so is a sample without a substitute.
        strict: raise where transforms would run in Python.
        decode: "exact" (Pillow's pixels), or "fast": JPEGs no larger than needed.
        orientation: turn images as EXIF says, which Pillow and ImageFolder do not.
        color: "rgb" or "gray".
        tail: instead of drop_last: "repeat", the default; "drop"; "pad", which takes the label of repeated samples, too
            (it is -1); or "uneven", which evaluates each sample once on any number of ranks.
        label_dtype: of the labels: "int64", the default, "uint8" or "uint16". Numbers to predict are float32.
        max_pixels: an image of more pixels is a bad sample; it bounds the memory that an image may take, too. None is
            Pillow's limit, 178,956,970.

    DataLoader's other arguments may be given as None, False, 0 or "": they ask for nothing then.

    Raises:
        FileNotFoundError: there is no such dataset.
        ValueError, TypeError: arguments make no sense, or not with this dataset.
        dsconv.Error: any other, and what is wrong with a sample, when its batch is asked for.
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

        _arguments.of_dataloader(dataloader)
        order, drop_last = _arguments.order(shuffle), _arguments.flag("drop_last", drop_last)
        _arguments.together(sampler, order, drop_last, tail, collate_fn)
        _arguments.choice("on_error", on_error, list(_ON_ERROR))
        self.path, self.split = _arguments.path(path), _arguments.text("split", split) or None
        self.batch_size = _arguments.whole("batch_size", batch_size, 1)
        self.drop_last = drop_last or tail == "drop"
        self.seed = _arguments.whole("seed", seed, 0, _arguments.LARGEST_SEED)
        self.prefetch_factor = 2 if prefetch_factor is None else _arguments.whole("prefetch_factor", prefetch_factor, 1)
        self.device = checked(device)
        self.collate_fn = None if collates_by_default(collate_fn) else collate_fn
        self.num_workers = threads(num_workers)
        self.fields = _arguments.names("fields", fields)
        self._sampler, self._on_error = sampler, on_error
        plan = translate(transforms)
        python_runs(plan, _arguments.flag("strict", strict))
        warn_of_others(plan.rest, self.collate_fn, stacklevel=2)
        self._python = plan.rest is not None
        self._channels_last = _arguments.channels_last(memory_format)
        self._dtype = None if dtype is None else _arguments.choice("dtype", dtype_name(dtype), _DTYPES)
        # Arrays, which Albumentations ends in without ToTensorV2, stay as a DataLoader would collate them.
        together = self._channels_last or plan.kind == "array"
        native = {"dtype": self._dtype or plan.dtype or "uint8", "layout": "nhwc" if together else "nchw"}
        if self._python:
            if self._dtype == "uint16":
                names = ", ".join(plan.named)
                raise ArgumentError(f'dtype="uint16": transforms that Python runs ({names}) get 8-bit images')
            tensor = plan.kind in ("tensor", "tv_tensor")
            native = {"dtype": plan.dtype or "uint8", "layout": "nchw" if tensor else "nhwc"}
        self._told_narrowed = False
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
            fields=further_fields(self.fields),
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
        self._frame = Frame(self._source, self.fields, channels_last=planes)
        self.pin_memory = _arguments.flag("pin_memory", pin_memory) and _has_cuda(self.device)
        self._memory = None if self._python else self._frame.memory(self.pin_memory and self.collate_fn is None)
        self._bad = Bad(self._source)
        self._samples = None
        if plan.rest is not None:
            self._samples = Samples(
                self._source,
                self._frame,
                plan.rest,
                plan.kind,
                threads=self.num_workers,
                ahead=self.prefetch_factor,
                on_error=on_error,
                seed=self.seed,
                bad=self._bad,
                pads=tail == "pad" and not plan.mixers,
            )
        if order != "none":
            all_splits(self.path, self.split, self._source.splits)
        self._mixing = None
        if plan.mixers:
            self._mixing = Mixing(plan.mixers, self._source, self._frame.parts, seed=self.seed)
        self._epochs = Epochs()
        self._dataset: Dataset | None = None

    # What there is to load.

    def __len__(self) -> int:
        """Batches in an epoch of this rank."""
        self._join()
        if self._sampler is None:
            return self._source.batches
        n = len(self._sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    @property
    def classes(self) -> list[str]:
        """The names of the classes; a label is an index into them."""
        return self._source.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """Each class's label."""
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def dataset(self) -> Dataset:
        """The samples that this loads, as an ImageFolder has them, without transforms."""
        from .dataset import Dataset

        if self._dataset is None:
            self._dataset = Dataset(self.path, self.split)
        return self._dataset

    @property
    def sampler(self) -> Any:
        """What set_epoch is to be called on, for frameworks that look for it: the sampler, or this Loader."""
        return self if self._sampler is None else self._sampler

    @property
    def batch_sampler(self) -> None:
        """A DataLoader's; there is none here."""
        return None

    def clock(self) -> dict[str, float]:
        """Where the library's time went so far, in seconds: read, decode, augment, collate (summed over threads), wait
        (of the loop); images and bytes that came through; depth, the mean number of batches that were ready."""
        return self._source.call("clock")

    def estimate(self) -> dict[str, int]:
        """What memory an epoch takes, in bytes: workers, batches, cache, order, and batch_bytes, one batch."""
        if self._python:
            raise ArgumentError("an estimate of transforms that run in Python: their memory is not known")
        return self._source.call("estimate")

    def bad(self) -> dict[str, Any]:
        """How many times a bad sample was skipped or replaced, and the first thousand of them.

        That is {"times": ..., "samples": [...]}; a sample is {"index": its number in `loader.dataset`, "key": ...,
        "message": the cause}."""
        return self._source.call("bad")

    # Epochs.

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is this epoch, counted from 0: another order, other augmentations."""
        self._epochs.set(epoch)
        if self._sampler is not None and hasattr(self._sampler, "set_epoch"):
            self._sampler.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the training stands, after the batch that was given last: to be kept beside the model's weights."""
        epoch, position = self._epochs.reached
        if self._sampler is not None:
            return {"epoch": epoch, "position": position, "seed": self.seed, "order": "sampler"}
        return self._source.call("state", epoch=epoch, position=position)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from there: the next iteration gives what is left of that epoch, also with another batch size,
        number of ranks or format. With a sampler, what is left of the list that it gives for that epoch.

        Raises:
            ValueError: the state is of another order, seed or set of samples.
        """
        state = _arguments.state(state)
        if self._sampler is None:
            self._source.call("check", **state)
        elif state["order"] != "sampler" or state["seed"] != self.seed:
            raise ArgumentError("resume: the state is not of a Loader with a sampler and this seed")
        self._epochs.resume(state["epoch"], state["position"])

    def __iter__(self) -> Iterator[Any]:
        self._join()
        return self._epochs.iterate(self._batches)

    def _join(self) -> None:
        """Takes this process's part if processes have come together since this was made, as in Lightning's fit()."""
        found = (self.rank, self.world_size) if self._given_rank else rank_and_world(None, None)
        if found != (self.rank, self.world_size):
            self.rank, self.world_size = found
            self._source.change(rank=self.rank, world_size=self.world_size)

    def _batches(self, epoch: int, position: int) -> Iterator[tuple[Any, int]]:
        batches = self._python_batches(epoch, position) if self._python else self._native_batches(epoch, position)
        return batches if self.device is None else to_device(batches, self.device)

    def _native_batches(self, epoch: int, position: int) -> Iterator[tuple[Any, int]]:
        assert self._memory is not None
        # Begun here, not in the generator: its threads work while the loop makes ready.
        stream = Stream(self._source, self._memory, epoch, position, self._drawn(epoch))
        return self._collated(stream, self._collator(epoch))

    def _collated(self, stream: Stream, collate: Callable[[Any, int], Any] | None) -> Iterator[tuple[Any, int]]:
        try:
            for raw in stream:
                batch = self._frame.make(raw)
                if raw.bad:
                    self._bad.warn("skipped" if self._on_error == "skip" else "replaced")
                yield (batch if collate is None else collate(list(zip(*batch)), raw.end)), raw.end
                del batch, raw  # their block is free once the loop has no tensor of it
            self._tell_narrowed()
        finally:
            stream.close()

    def _python_batches(self, epoch: int, position: int) -> Iterator[tuple[Any, int]]:
        assert self._samples is not None
        chosen = Chosen(self._source, self._drawn(epoch), epoch, position, self.world_size)
        collate = self._collator(epoch)
        for samples, padding, end in self._samples.epoch(chosen, self.batch_size, self.drop_last):
            if self._mixing is not None:
                batch = self._mixing(self._shaped(stack(samples)), padding, epoch, end)
                samples = list(zip(*batch)) if collate is not None else samples
            elif collate is None:
                batch = self._shaped(stack(samples))
            if collate is None:
                yield (pinned(batch) if self.pin_memory else batch), end
            else:
                yield collate(samples, end), end
        self._tell_narrowed()

    def _tell_narrowed(self) -> None:
        """Warns, once, of 16-bit images that became 8-bit."""
        found = self._source.call("narrowed")
        if found["times"] and not self._told_narrowed:
            self._told_narrowed = True
            narrowed(found)

    def _collator(self, epoch: int) -> Callable[[Any, int], Any] | None:
        """What makes a batch of samples by collate_fn, if there is one, in pinned memory if that was asked for. What
        it draws depends on the seed, the epoch, the position behind the batch and the rank."""
        collate_fn, rank = self.collate_fn, self.rank
        if collate_fn is None:
            return None
        generators = Generators(self.seed, collate_fn)

        def collate(samples: list[Any], end: int) -> Any:
            with generators.borrowed():
                generators.seed(epoch, "batch", end, rank)
                batch = collate_fn(samples)
            return pinned(batch) if self.pin_memory else batch

        return collate

    def _shaped(self, batch: tuple[Any, ...]) -> tuple[Any, ...]:
        """The batch with its images in the type and memory format that were asked for."""
        torch = torch_or_none()
        if torch is None:
            return batch
        values = list(batch)
        for k, name in enumerate(self.fields):
            if name == "image" and isinstance(values[k], torch.Tensor):
                if self._dtype is not None:
                    values[k] = values[k].to(getattr(torch, self._dtype))
                if self._channels_last:
                    values[k] = values[k].contiguous(memory_format=torch.channels_last)
        return tuple(values)

    def _drawn(self, epoch: int) -> np.ndarray | None:
        """The sampler's samples."""
        return None if self._sampler is None else _arguments.drawn(self._sampler, self._source.samples)

    def close(self) -> None:
        """Ends what is running and closes the dataset, which opens again when it is used."""
        self._source.close()
        if self._dataset is not None:
            self._dataset.close()


def _has_cuda(device: Any) -> bool:
    torch = torch_or_none()
    return torch is not None and torch.cuda.is_available() and (device is None or device.type == "cuda")
