"""Dataset: single samples, as a replacement for torchvision's ImageFolder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsIndex, TypeVar, Union, overload

import numpy as np

from . import _arguments
from ._errors import ArgumentError, ArgumentTypeError
from ._items import IMAGE, TARGET, Items, Value
from ._named_fields import form
from ._read_options import FieldMap, read_options
from ._short_messages import counted, named, shown
from ._source import Source
from ._tensors import dtype_name, extra_fields, torch_or_none

Item = TypeVar("Item")
Image_ = TypeVar("Image_")
Target = TypeVar("Target")
Path = Union[str, "os.PathLike[str]"]
Splits = Union[str, Sequence[str], None]

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch.utils.data import Dataset as Base

    from ._named_fields import Named
elif torch_or_none() is None:

    class Base(Generic[Item]):
        """In place of torch's Dataset where torch is not installed."""

else:
    from torch.utils.data import Dataset as Base

_FIELDS = ("image", "label")


class Dataset(Base[Item], Generic[Item]):  # type: ignore[misc]  # mypy is run without torch
    """Single samples: `Dataset("out.lmdb", transform=tf)` for `ImageFolder("images/", tf)`.

    It is a `torch.utils.data.Dataset` if torch is installed. Item i is (image, target), each after its transform. The
    image is an RGB PIL image with Pillow's pixels. The target is the class index, or -1 for no label. If labels are
    numbers to predict, it is a float, or nan for no label; if they are multi-hot, a uint8 tensor with a 1 for each
    class that applies (a numpy array without torch). Samples are in the order of their keys' bytes: that of
    ImageFolder for most names, see `imagefolder_order`.

    It is safe to use from several threads, and in the workers of a DataLoader, forked or spawned: each process opens
    the dataset itself, in no time, and shares its pages with the others. `Loader` is several times as fast.

    Type checkers know the types of an item from the arguments. The transforms are attributes, which may be replaced.

    Args:
        path: of the dataset, see `Loader`.
        split: use only this split, or these splits; None uses all samples.
        transform: called with the image.
        target_transform: called with the target.
        transforms: called with all fields of an item, and returns the item, as in torchvision's VisionDataset. A tuple
            of as many values gets the fields' names again. It excludes transform and target_transform.
        fields: names of the fields of an item, in their order: "image", "label", "index" (i), "key", extra fields of
            the dataset, and columns of its label table, whose values are str. Masks and boxes are tensors, with
            torchvision those of `tv_tensors`, so that its v2 transforms, given as `transforms`, move them with the
            image.
            Items are named tuples then: `item.mask`. A name that no attribute can have is changed, "class" to `class_`
            (docs/python.md). None is ("image", "label") in a plain tuple.
        as_dict: items are dicts by the names of the fields, and transforms is called with a dict.
        dtype: of images. "uint8", the default, makes PIL images; those with 16 bits lose bits as in Pillow, with a
            warning. "uint16" keeps all bits, as in `Loader`: images are (C, H, W) tensors then, with torchvision
            tv_tensors.Image.
        max_pixels: reading a larger image raises an error; None is Pillow's limit, 178,956,970.
        map: if another program wrote the dataset, the keys of its fields: {"image": "jpg", "label": "cls"}. None goes
            by the content (docs/sources.md).
        source_format: the name of the dataset's format, such as "webdataset", where the content does not decide.

    Raises:
        FileNotFoundError: the dataset does not exist.
        dsconv.Error: a sample cannot be read; the message has its key.
    """

    # What an item is follows from the transforms. Labels that are numbers to predict, or rows, get their type from
    # target_transform, such as float.
    @overload
    def __init__(
        self: Dataset[tuple[Image, int]],
        path: Path,
        split: Splits = None,
        transform: None = None,
        target_transform: None = None,
        *,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Dataset[tuple[Image_, int]],
        path: Path,
        split: Splits = None,
        transform: Callable[[Image], Image_] = ...,
        target_transform: None = None,
        *,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Dataset[tuple[Image, Target]],
        path: Path,
        split: Splits = None,
        transform: None = None,
        target_transform: Callable[[Any], Target] = ...,
        *,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Dataset[tuple[Image_, Target]],
        path: Path,
        split: Splits = None,
        transform: Callable[[Image], Image_] = ...,
        target_transform: Callable[[Any], Target] = ...,
        *,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Dataset[Item],
        path: Path,
        split: Splits = None,
        *,
        transforms: Callable[..., Item],
        fields: Sequence[str] | None = None,
        as_dict: bool = False,
        dtype: Any = None,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Dataset[dict[str, Value]],
        path: Path,
        split: Splits = None,
        transform: None = None,
        target_transform: None = None,
        *,
        as_dict: Literal[True],
        fields: Sequence[str] | None = None,
        dtype: Any = None,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Dataset[Named[Value]],
        path: Path,
        split: Splits = None,
        transform: None = None,
        target_transform: None = None,
        *,
        fields: Sequence[str],
        as_dict: Literal[False] = False,
        dtype: Any = None,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Dataset[Any],
        path: Path,
        split: Splits = None,
        transform: Callable[[Image], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        *,
        transforms: Callable[..., Any] | None = None,
        fields: Sequence[str] | None = None,
        as_dict: bool = False,
        dtype: Any = None,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None: ...

    def __init__(
        self,
        path: Path,
        split: Splits = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        *,
        transforms: Callable[..., Any] | None = None,
        fields: Sequence[str] | None = None,
        as_dict: bool = False,
        dtype: Any = None,
        max_pixels: int | None = None,
        map: FieldMap | None = None,
        source_format: str | None = None,
    ) -> None:
        self.map, self.source_format = map, source_format
        reading = read_options(map, source_format)
        self.root, self.split, self.max_pixels = _arguments.path(path), split, max_pixels
        self.named, self.as_dict = fields is not None, _arguments.flag("as_dict", as_dict)
        self.fields = _FIELDS if fields is None else _arguments.names("fields", fields)
        self._form = form("Item", self.fields, self.named, self.as_dict)
        kept = "uint8" if dtype is None else _arguments.choice("dtype", dtype_name(dtype), ("uint8", "uint16"))
        self.transform, self.target_transform, self.transforms = transform, target_transform, transforms
        self._check_transforms()
        splits = split_names(split)
        chosen: dict[str, Any] = {"path": self.root}
        if reading:
            chosen = {"paths": [{"path": self.root, **reading}]}
        self._source = Source(
            **chosen,
            **({"splits": splits} if len(splits) > 1 else {"split": "".join(splits)}),
            fields=extra_fields(self.fields),
            batch=1,
            any_size=True,
            dtype=kept,
            max_pixels=_arguments.pixel_limit(max_pixels),
        )
        self._items = Items(self._source, self.fields)
        self._targets: np.ndarray | None = None

    def _check_transforms(self) -> None:
        if self.transforms is not None and (self.transform is not None or self.target_transform is not None):
            raise ArgumentError("transforms gets whole items: it excludes transform and target_transform")
        for name in ("transform", "target_transform", "transforms"):
            call = getattr(self, name)
            if call is not None and not callable(call):
                hint = "; dsconv.transforms has those of a Loader's text" if isinstance(call, str) else ""
                raise ArgumentTypeError(f"{name}={shown(call)}: it must be a function or a transform{hint}")

    def __len__(self) -> int:
        return self._source.samples

    def __getitem__(self, index: SupportsIndex) -> Item:
        n = len(self)
        number = _arguments.whole("index", index, -_arguments.LARGEST_INT64, _arguments.LARGEST_INT64)
        if not -n <= number < n:
            raise IndexError(f"index {number}: the dataset has {n} samples")
        item: Item = self._transformed(self._items.read(number % n))
        return item

    def _transformed(self, values: list[Any]) -> Any:
        if self.transforms is not None:
            self._check_transforms()  # they may have been replaced
            return self.transforms(*values) if self._form is None else self._form.transformed(self.transforms, values)
        calls = {IMAGE: self.transform, TARGET: self.target_transform}
        for k, role in enumerate(self._items.roles):
            call = calls.get(role)
            if call is not None:
                values[k] = call(values[k])
        return tuple(values) if self._form is None else self._form(values)

    @property
    def classes(self) -> list[str]:
        """The names of the classes; a target is an index into them, or has a column for each."""
        return self._source.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The target of each class."""
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def targets(self) -> np.ndarray:
        """The targets of all samples, before target_transform: class indices, int64; numbers to predict, float32; or if
        they are multi-hot, (samples, classes), uint8.

        The array cannot be written to. Class indices take next to no memory where they are a view of a packed dataset's
        file. It stays valid after `close`. `targets.tolist()` is ImageFolder's list.
        """
        if self._targets is None:
            self._targets = self._source.labels()
        return self._targets

    @property
    def keys(self) -> list[str]:
        """The keys of all samples: the paths of their source files without extension. Each use makes a new list."""
        return [key for keys in self._source.texts("keys") for key in keys]

    @property
    def samples(self) -> list[tuple[str, Any]]:
        """The path of each sample's source file and its target. Each use makes a new list.

        Of a folder of images they are those of ImageFolder, in the order of `keys`. Of a packed dataset, the
        paths are relative to the folder that was packed, which may be gone."""
        folder = self.root if self._source.describe()["format"] == "folder" and len(self._paths) == 1 else ""
        paths = (os.path.join(folder, path) for paths in self._source.texts("sources") for path in paths)
        return list(zip(paths, self.targets.tolist()))

    @property
    def imagefolder_order(self) -> np.ndarray:
        """The indices of all samples in the order of torchvision's ImageFolder, int64: `imagefolder_order[k]` is the
        sample that ImageFolder has at k, if the images lie in class folders.

        For a list of indices that was saved for ImageFolder take `Subset(dataset, dataset.imagefolder_order[list])`, or
        `Loader(path, indices=...)`. The dataset's own order is that of the keys' bytes, which have no extension:
        `a/1-2` comes before `a/1`, and the folder `shirt-long` before `shirt`. Each use makes a new array."""
        classes, targets = [*self.classes, ""], self.targets  # -1, no label, is the last
        names = [classes[target] for target in targets] if targets.dtype == np.int64 else [""] * len(targets)
        paths = (os.path.split(path) for paths in self._source.texts("sources") for path in paths)
        places = [(name, *path) for name, path in zip(names, paths)]
        return np.array(sorted(range(len(places)), key=places.__getitem__), np.int64)

    @property
    def imgs(self) -> list[tuple[str, Any]]:
        """The same as `samples`, for code that uses ImageFolder's other name."""
        return self.samples

    @property
    def columns(self) -> dict[str, list[str]]:
        """The columns of the label table that the dataset was packed with: by name, the text of each sample. Each use
        makes new lists."""
        columns: dict[str, list[str]] = {}
        for some in self._source.texts("columns"):
            for name, texts in some.items():
                columns.setdefault(name, []).extend(texts)
        return columns

    @property
    def _paths(self) -> list[str]:
        """Of the datasets that lie behind it: the dataset of a Loader may have several."""
        return [part["path"] for part in self._source.configuration.get("paths", ())] or [self.root]

    def close(self) -> None:
        """Closes the dataset. The next use opens it again."""
        self._targets = None
        self._source.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_targets": None}

    def __repr__(self) -> str:
        split = "" if self.split is None else f", split={shown(self.split)}"
        paths = ", ".join(map(repr, self._paths[:2])) + (", ..." if len(self._paths) > 2 else "")
        samples, classes = counted(len(self), "sample"), counted(len(self.classes), "class", "classes")
        lines = [f"Dataset({paths}{split}): {samples}, {classes}"]
        if self.fields != _FIELDS or self.as_dict:
            lines.append(f"    fields: {', '.join(self.fields)}{' (dicts)' if self.as_dict else ''}")
        for name in ("transform", "target_transform", "transforms"):
            call = getattr(self, name)
            if call is not None:
                lines.append(f"    {name}: {named(call)}")
        return "\n".join(lines)


def split_names(split: Any) -> tuple[str, ...]:
    """The names of the splits; none for all samples."""
    if split is None or isinstance(split, str):
        return (split,) if split else ()
    if not isinstance(split, (list, tuple)) or not split or not all(isinstance(name, str) for name in split):
        raise ArgumentTypeError(f"split={shown(split)}: it must be a string or a list of strings")
    return tuple(split)
