"""Loader: batches for a training loop, with the parameters of torch's DataLoader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _arguments
from ._changed_transforms import GivenTransforms
from ._dataset_figures import with_figures
from ._device import check_device, decoding_gpu, gpu_options, has_cuda
from ._epoch_batches import EpochBatches
from ._epoch_counter import EpochCounter
from ._image_format import image_format
from ._loader_epochs import Batch, LoaderEpochs
from ._loader_seed import LoaderSeed
from ._loader_text import described
from ._named_fields import form
from ._random_draws import draws
from ._ranks import rank_and_world, threads
from ._read_options import FieldMap
from ._samplers import GivenOrder
from ._seeding import warn_of_unseeded
from ._selection import select
from ._source import Source
from ._tensors import BatchFields, collates_by_default, dtype_name, extra_fields
from ._tv_tensors import TVTensors, canvas
from ._views import checked_dtype, plan_of, views_of
from ._warnings import all_splits, left_out, python_runs
from ._worker_arguments import check_worker_arguments, prefetched

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from typing_extensions import Unpack

    from ._batch_types import Indices, Options, Samples, Value, Weights
    from ._named_fields import Named

Collated = TypeVar("Collated")

_ON_ERROR = {"raise": "fail", "skip": "skip", "substitute": "substitute"}


class Loader(LoaderEpochs[Batch]):
    """Batches of a dataset: `for x, y in Loader("out.lmdb", batch_size=256, shuffle=True)`.

    A batch is a tuple of tensors in the order of `fields` (numpy arrays if torch is not installed), which belong to the
    caller; with `fields` it is a named tuple. Images have the shape (N, C, H, W) and are uint8 unless the transforms or
    `dtype` change that. Labels are int64, or float32 if they are numbers to predict. Keys and columns are lists of
    texts. Masks are (N, H, W). What differs in shape from sample to sample, as boxes, (n, 4), is a list of tensors.

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
            Ranks then repeat up to world_size - 1 samples to have equally many, as DistributedSampler does, with
            their labels, indices and keys; tail="pad" marks them.
        split: load this split of the dataset, or these of a list. None loads all samples, and warns if splits are
            shuffled together.
        fields: names of the fields of a batch: "image", "label", "index" (of the sample in `loader.dataset`), "key",
            the dataset's extra fields, and the columns of its label table. Masks, boxes and extra images are
            transformed together with the image. None is ("image", "label"). With fields a batch is a named tuple:
            `batch.mask`. A name that no attribute can have is changed, "class" to `class_` (docs/python.md).
        as_dict: batches, and the samples that collate_fn gets, are dicts by the names of the fields. None is the
            Dataset's, else False.
        tv_tensors: images, masks and boxes are torchvision's `tv_tensors`, for its v2 transforms after the Loader.
            Boxes then know the size of their image.
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
        tail: used instead of drop_last: "repeat" (the default); "drop"; "pad", as "repeat", but repeated samples have
            the label -1, the index -1 and empty texts; or "uneven", which evaluates each sample once on any number of
            ranks.
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
        as_dict: bool = False,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: Loader[dict[str, Value]],
        path: Samples,
        batch_size: int | None = None,
        transforms: Any = None,
        shuffle: bool | str | None = False,
        *,
        as_dict: Literal[True],
        fields: Sequence[str] | None = None,
        collate_fn: None = None,
        target_transform: Callable[[Any], object] | None = None,
        views: int | Sequence[Any] | None = None,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: Loader[Named[Value]],
        path: Samples,
        batch_size: int | None = None,
        transforms: Any = None,
        shuffle: bool | str | None = False,
        *,
        fields: Sequence[str],
        as_dict: Literal[False] | None = None,
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
        as_dict: bool | None = None,
        tv_tensors: bool = False,
    ) -> None:
        from .transforms import translate

        check_worker_arguments(
            in_order=in_order, multiprocessing_context=multiprocessing_context, persistent_workers=persistent_workers,
            pin_memory_device=pin_memory_device, timeout=timeout, worker_init_fn=worker_init_fn,
        )  # fmt: skip
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
        self.fields, named, self.as_dict = selection.names(fields, as_dict)
        given = None if sampler is None and batch_sampler is None else GivenOrder(sampler, batch_sampler)
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
        self._transforms = GivenTransforms(selection, views if isinstance(views, (list, tuple)) else [chosen])
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
        wrapped = _arguments.flag("tv_tensors", tv_tensors)
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
            form=form("Batch" if self.collate_fn is None else "Item", self.fields, named, self.as_dict),
            tv_tensors=TVTensors(batch_fields.fields, canvas(self._source, plan, images)) if wrapped else None,
        )
        self._seed_matters = order != "none" or any(
            draws(p) for p in ([plan] if self._views is None else self._views.plans)
        )
        if order != "none" and selection.indices is None:
            all_splits(self.path, self.split, self._source.splits)
        left_out(self._source.describe()["left_out"])
        self._selection = selection
        self._epochs = EpochCounter()
        self._dataset: Any = selection.given

    def __setattr__(self, name: str, value: Any) -> None:
        """Settings hold from the construction on: a new value would have no effect."""
        code = Loader.__init__.__code__
        arguments = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        if "_dataset" in vars(self) and name in arguments and getattr(self, name, None) is not value:
            raise AttributeError(f"{name} cannot be changed after the Loader was made: make a new one with {name}=...")
        super().__setattr__(name, value)

    def __len__(self) -> int:
        """The number of this rank's batches in an epoch."""
        self._join()
        return self._source.batches if self._given is None else self._given.count(self.batch_size, self.drop_last)

    def __repr__(self) -> str:
        return described(self, self._source, self._plan, self._given)
