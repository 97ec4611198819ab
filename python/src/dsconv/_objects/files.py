"""Gets at the encoded files behind datasets of known libraries, so that they are copied and not encoded again."""

from __future__ import annotations

import collections
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_UNTRANSFORMED = ("transform", "transforms", "target_transform")


class Files:
    """A dataset that gives paths of files where the dataset it stands for gives images."""

    def __init__(self, dataset: Any, paths: Any, masks: Any = None) -> None:
        self.dataset, self.paths, self.masks = dataset, paths, masks

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> Any:
        d, path = self.dataset, Path(self.paths[i])
        if self.masks is not None:
            return path, Path(self.masks[i])
        if hasattr(d, "_load_target"):  # whose lists may be empty
            return (_Captioned if type(d).__name__ == "CocoCaptions" else _Annotated)(path, d._load_target(d.ids[i]))
        if hasattr(d, "parse_voc_xml"):
            from xml.etree import ElementTree

            return path, d.parse_voc_xml(ElementTree.parse(d.annotations[i]).getroot())
        return path, d.samples[i][1]


_Captioned = collections.namedtuple("_Captioned", ("image", "captions"))
_Annotated = collections.namedtuple("_Annotated", ("image", "target"))


class _Reader:
    """timm's ImageDataset: its reader gives open files."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader

    def __len__(self) -> int:
        return len(self.reader)

    def __getitem__(self, i: int) -> Any:
        f, target = self.reader[i]
        if isinstance(f, (bytes, str)):
            return f, target
        with f:
            return f.read(), target


def as_files(dataset: Any) -> Any:
    """The dataset with its files in the place of decoded images, where its class is known; else itself."""
    module, name = type(dataset).__module__, type(dataset).__name__
    if module.startswith("torch.utils.data") and name == "Subset":
        return type(dataset)(as_files(dataset.dataset), dataset.indices)
    if module.startswith("torch.utils.data") and name == "ConcatDataset":
        return type(dataset)([as_files(d) for d in dataset.datasets])
    if hasattr(dataset, "cast_column") and isinstance(getattr(dataset, "features", None), Mapping):
        return _huggingface(dataset)
    if hasattr(dataset, "as_numpy_iterator"):
        return dataset.as_numpy_iterator()
    if any(getattr(dataset, a, None) is not None for a in _UNTRANSFORMED):
        return dataset
    if is_folder(dataset):
        return Files(dataset, [path for path, _ in dataset.samples])
    if module == "torchvision.datasets.voc" and name == "VOCSegmentation":
        return Files(dataset, dataset.images, dataset.masks)
    if module == "torchvision.datasets.voc" and name == "VOCDetection":
        return Files(dataset, dataset.images)
    if module == "torchvision.datasets.coco":
        names = [dataset.coco.loadImgs(i)[0]["file_name"] for i in dataset.ids]
        return Files(dataset, [os.path.join(dataset.root, n) for n in names])
    if module.startswith("timm.data") and hasattr(dataset, "reader"):
        return _Reader(dataset.reader)
    return dataset


def is_folder(dataset: Any) -> bool:
    """Reports whether dataset is torchvision's DatasetFolder, as its library has it and without transforms."""
    from_library = [
        c for c in type(dataset).__mro__ if c.__name__ == "DatasetFolder" and c.__module__.startswith("torchvision")
    ]
    own = "__getitem__" in vars(type(dataset)) and not type(dataset).__module__.startswith("torchvision")
    loader = getattr(getattr(dataset, "loader", None), "__module__", "")
    plain = all(getattr(dataset, a, None) is None for a in _UNTRANSFORMED)
    return bool(from_library) and not own and plain and loader.startswith("torchvision")


def is_listable(dataset: Any) -> bool:
    """Reports whether a list of the dataset's files with the names of their classes says all: the program sorts names
    as ImageFolder does, but for numbers, and knows no class without images."""
    if (
        not is_folder(dataset)
        or len({c for _, c in dataset.samples}) != len(dataset.classes)
        or len(dataset.classes) < 2
    ):
        return False
    names = dataset.classes
    return names == sorted(names) and not any(re.fullmatch(r"\s*[-+.\d].*|.*\s|\s.*|", n) for n in names)


def keys_of(folder: Any) -> list[str]:
    """The keys that the program gives the files of torchvision's DatasetFolder."""
    paths = [os.path.relpath(path, folder.root) for path, _ in folder.samples]
    stems = [os.path.splitext(p)[0] for p in paths]
    counts = collections.Counter(stems)
    return [stem if counts[stem] == 1 else path for stem, path in zip(stems, paths)]


def _huggingface(dataset: Any) -> Any:
    if (getattr(dataset, "format", None) or {}).get("type") == "custom":
        return dataset  # set_transform
    for column, feature in dataset.features.items():
        if type(feature).__name__ == "Image" and getattr(feature, "decode", False):
            dataset = dataset.cast_column(column, type(feature)(decode=False))
    return dataset


def has_state(dataset: Any) -> bool:
    """Reports whether an iterable can go on from a state. That of Hugging Face has nothing of a shuffle buffer."""

    def shuffles(inner: Any) -> bool:
        if inner is None or (hasattr(inner, "buffer_size") and "Shuffle" in type(inner).__name__):
            return inner is not None
        return any(map(shuffles, [getattr(inner, "ex_iterable", None), *getattr(inner, "ex_iterables", ())]))

    loads = hasattr(dataset, "state_dict") and hasattr(dataset, "load_state_dict")
    return loads and not shuffles(getattr(dataset, "_ex_iterable", None))


def advice(dataset: Any) -> str:
    """How to get at the bytes of the images of a dataset that gives pixels."""
    module = type(dataset).__module__.partition(".")[0]
    if any(getattr(dataset, a, None) is not None for a in _UNTRANSFORMED):
        return "dataset.transform = None leaves the images as they are"
    return {
        "datasets": "dataset.cast_column('image', datasets.Image(decode=False)) gives the files",
        "webdataset": "leave out .decode(), so that samples have the files",
        "torchvision": "a dataset of your own that returns the path of each file keeps the files",
        "timm": "timm's dataset.reader gives the files",
    }.get(module, "items with the path or the bytes of each file, instead of a decoded image, keep the files")


def classes_of(dataset: Any) -> tuple[dict[str, list[str]], list[str] | None]:
    """The classes that a dataset knows: those of its columns by name, and those of its label."""
    features = getattr(dataset, "features", None)
    if isinstance(features, Mapping):
        named = {k: list(f.names) for k, f in features.items() if hasattr(f, "names") and f.names}
        return named, next(iter(named.values()), None)
    for attribute in ("classes", "attr_names"):
        found = getattr(dataset, attribute, None)
        if isinstance(found, (list, tuple)) and found and all(isinstance(c, str) for c in found):
            return {}, [c for c in found if c] if attribute == "attr_names" else list(found)
    for owner in (dataset, getattr(dataset, "reader", None)):
        index = getattr(owner, "class_to_idx", None)
        if isinstance(index, Mapping) and sorted(index.values()) == list(range(len(index))):
            return {}, sorted(index, key=index.__getitem__)
    inner = [dataset.dataset] if hasattr(dataset, "dataset") else list(getattr(dataset, "datasets", ()))
    known = [classes_of(d) for d in inner]
    return known[0] if known and all(k == known[0] for k in known) else ({}, None)


_RANDOM = (
    "Random", "AutoAugment", "TrivialAugment", "AugMix", "ColorJitter", "GaussianNoise", "ElasticTransform", "MixUp",
    "CutMix", "Jitter", "RandAugment",
)  # fmt: skip


def random_transforms(dataset: Any) -> list[str]:
    """The names of random transforms that the items of a dataset went through."""
    found: list[str] = []
    seen: set[int] = set()

    def look(value: Any, depth: int) -> None:
        if value is None or id(value) in seen or depth > 6:
            return
        seen.add(id(value))
        name = type(value).__name__
        if name.startswith(_RANDOM):
            found.append(name)
        for attribute in (*_UNTRANSFORMED, "transforms", "dataset", "datasets"):
            inner = getattr(value, attribute, None)
            for one in inner if isinstance(inner, (list, tuple)) else [inner]:
                look(one, depth + 1)

    look(dataset, 0)
    return found
