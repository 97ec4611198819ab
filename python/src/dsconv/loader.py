"""The loader: batches for a training loop, with a DataLoader's names and meanings."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._bad import Bad
from ._chosen import Chosen
from ._device import pinned, to_device
from ._epochs import Epochs
from ._generators import Generators, warn_of_others
from ._native import ArgumentError
from ._ranks import rank_and_world, threads
from ._samples import Samples, stack
from ._source import Source, pixel_limit
from ._stream import Stream
from ._tensors import Frame, dtype_name, further_fields, torch_or_none

if TYPE_CHECKING:
    from .dataset import Dataset

_ON_ERROR = {"raise": "fail", "skip": "skip", "substitute": "substitute"}


class Loader:
    """Batches of a dataset: `for x, y in Loader("out.lmdb", batch_size=256, shuffle=True)`.

    A batch is a tuple of tensors in the order of `fields` (numpy arrays where torch is not installed), which belong to
    the caller: images of shape (N, C, H, W), uint8 unless the transforms or `dtype` say otherwise, and labels, int64.
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
        prefetch_factor: batches made ahead of the loop.
        pin_memory: make batches in pinned memory, where there is CUDA.
        drop_last: leave out the samples that fill no batch on every rank. Otherwise the last batch is smaller; where
            ranks would differ, up to world_size - 1 samples are repeated, as by DistributedSampler, with the index -1.
        split: load this split of the dataset.
        fields: what a batch has, by name: "image", "label", "index" (in the dataset; -1 is padding), "key", and the
            dataset's further fields. Masks, boxes and further images are transformed as the image is.
        sampler: of a torch sampler's kind: its indices, those of `Dataset(path, split)`, are this rank's epoch. Its
            set_epoch is called if it has one.
        collate_fn: called with a list of samples, tuples as a DataLoader gives them; what it returns is the batch. It
            runs in the loop's thread, and takes a batch apart that was whole: MixUp is faster among the transforms.
            What it draws depends on the seed, the epoch, the batch's place and the rank.
        rank, world_size: of the processes that share an epoch; None asks torch.distributed, then the environment, when
            an epoch begins.
        dtype: of the images: "uint8", "uint16", "float32", "float16", "bfloat16" or torch's; floats are from 0 to 1, or
            normalised where the transforms say so.
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
        label_dtype: of the labels: "int64", "uint8" or "uint16".
        max_pixels: an image of more pixels is a bad sample; it bounds the memory that an image may take, too. None is
            Pillow's limit, 178,956,970.

    Raises:
        FileNotFoundError: there is no such dataset.
        ValueError: arguments make no sense, or not with this dataset.
        dsconv.Error: any other, and what is wrong with a sample, when its batch is asked for.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        batch_size: int,
        transforms: Any = None,
        shuffle: bool | str = False,
        seed: int = 0,
        num_workers: int | None = None,
        prefetch_factor: int = 2,
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
        label_dtype: str = "int64",
        max_pixels: int | None = None,
    ) -> None:
        from .transforms import translate

        _check(batch_size, prefetch_factor, sampler, shuffle, on_error, drop_last, tail)
        self.path, self.split = os.fspath(path), split
        self.batch_size, self.drop_last, self.seed = batch_size, drop_last or tail == "drop", seed
        self.prefetch_factor, self.device = prefetch_factor, device
        self.collate_fn = None if _collates_by_default(collate_fn) else collate_fn
        self.num_workers = threads(num_workers)
        self.fields = tuple(fields)
        self._sampler, self._on_error = sampler, on_error
        plan = translate(transforms)
        _warn(plan, strict)
        warn_of_others(plan.rest, self.collate_fn, stacklevel=2)
        self._python = plan.rest is not None
        self._channels_last = _channels_last(memory_format)
        self._dtype = dtype_name(dtype)
        # Arrays, which Albumentations ends in without ToTensorV2, stay as a DataLoader would collate them.
        together = self._channels_last or plan.kind == "array"
        native = {"dtype": self._dtype or plan.dtype or "uint8", "layout": "nhwc" if together else "nchw"}
        if self._python:
            tensor = plan.kind in ("tensor", "tv_tensor")
            native = {"dtype": plan.dtype or "uint8", "layout": "nchw" if tensor else "nhwc"}
        self._given_rank = rank is not None
        self.rank, self.world_size = rank_and_world(rank, world_size)
        self._source = Source(
            path=self.path,
            batch_size=batch_size,
            workers=self.num_workers,
            prefetch=prefetch_factor,
            order=_order(shuffle),
            seed=seed,
            tail=tail or ("drop" if drop_last else "repeat"),
            rank=self.rank,
            world_size=self.world_size,
            split=split or "",
            fields=further_fields(self.fields),
            label_dtype=label_dtype,
            on_error=_ON_ERROR[on_error],
            cache=cache or "",
            transforms=plan.words,
            color=color,
            orientation=orientation,
            decode=decode,
            any_size=self._python,
            max_pixels=pixel_limit(max_pixels),
            **native,
        )
        planes = self._channels_last and not self._python and plan.kind != "array"
        self._frame = Frame(self._source, self.fields, channels_last=planes)
        self.pin_memory = pin_memory and _has_cuda(device)
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
                ahead=prefetch_factor,
                on_error=on_error,
                seed=seed,
                bad=self._bad,
            )
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
        """How many times a bad sample was skipped or replaced, and the first thousand of them, each with its index, key
        and cause: {"times": ..., "samples": [{"index": ..., "key": ..., "message": ...}, ...]}."""
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
        if self._sampler is None:
            self._source.call("check", **state)
        elif state["order"] != "sampler" or state["seed"] != self.seed:
            raise ArgumentError("resume: the state was not made with a sampler and this seed")
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
        finally:
            stream.close()

    def _python_batches(self, epoch: int, position: int) -> Iterator[tuple[Any, int]]:
        assert self._samples is not None
        chosen = Chosen(self._source, self._drawn(epoch), epoch, position, self.world_size)
        collate = self._collator(epoch)
        for samples, end in self._samples.epoch(chosen, self.batch_size, self.drop_last):
            yield (self._shaped(stack(samples)) if collate is None else collate(samples, end)), end

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
            if self.pin_memory and isinstance(values[k], torch.Tensor):
                values[k] = values[k].pin_memory()
        return tuple(values)

    def _drawn(self, epoch: int) -> np.ndarray | None:
        """The sampler's samples."""
        return None if self._sampler is None else np.fromiter(self._sampler, np.int64).astype(np.int32)

    def close(self) -> None:
        """Ends what is running and closes the dataset, which opens again when it is used."""
        self._source.close()
        if self._dataset is not None:
            self._dataset.close()


def _check(
    batch_size: int, prefetch: int, sampler: Any, shuffle: Any, on_error: str, drop_last: bool, tail: str | None
) -> None:
    if batch_size < 1 or prefetch < 1:
        raise ArgumentError(f"batch_size={batch_size}, prefetch_factor={prefetch}: they must be at least 1")
    if sampler is not None and shuffle:
        raise ArgumentError("sampler and shuffle exclude each other")
    if on_error not in _ON_ERROR:
        raise ArgumentError(f"on_error={on_error!r}: wanted {', '.join(_ON_ERROR)}")
    if drop_last and tail not in (None, "drop"):
        raise ArgumentError(f"drop_last and tail={tail!r} exclude each other")


def _order(shuffle: bool | str) -> str:
    return shuffle if isinstance(shuffle, str) else "full" if shuffle else "none"


def _channels_last(memory_format: Any) -> bool:
    name = str(memory_format)
    if name in ("torch.channels_last", "channels_last"):
        return True
    if name in ("None", "torch.contiguous_format", "torch.preserve_format"):
        return False
    raise ArgumentError(f"memory_format={memory_format}: wanted torch.channels_last or torch.contiguous_format")


def _collates_by_default(collate_fn: Any) -> bool:
    """Whether collate_fn is torch's default, which gives what a batch is already."""
    if torch_or_none() is None:
        return False
    from torch.utils.data import default_collate

    return collate_fn is default_collate


def _has_cuda(device: Any) -> bool:
    torch = torch_or_none()
    return torch is not None and torch.cuda.is_available() and (device is None or torch.device(device).type == "cuda")


def _warn(plan: Any, strict: bool) -> None:
    """Says what runs in Python."""
    if not plan.named:
        return
    text = f"Python runs these transforms, which dsconv does not know: {', '.join(plan.named)}"
    if plan.notes:
        text += f" ({'; '.join(plan.notes)})"
    if strict:
        raise ArgumentError(text)
    warnings.warn(text, stacklevel=3)
