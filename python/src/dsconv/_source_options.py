"""How a folder of images is read: the parameters that pack, plan and bench have in common."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from ._errors import ArgumentError, ArgumentTypeError
from ._read_options import FieldMap, map_text
from ._short_messages import shown

Path = Union[str, "os.PathLike[str]"]


def source_options(
    labels: Path | Mapping[str, Path] | None,
    label_columns: Sequence[str] | Mapping[str, str] | None,
    label_sep: str | None,
    label_type: str | Mapping[str, str] | None,
    class_order: str | None,
    field: str | Sequence[str] | Mapping[str, str] | None,
    boxes: Path | Sequence[Path] | Mapping[str, Path] | None,
    captions: Path | Sequence[Path] | Mapping[str, Path] | None,
    include: str | Sequence[str] | None,
    exclude: str | Sequence[str] | None,
    map: FieldMap | None,
    source_format: str | None,
) -> dict[str, Any]:
    """The values of the command's flags of these names."""
    return {
        "labels": _assigned(labels), "label_columns": _joined(_assigned(label_columns)),
        "label_sep": label_sep, "label_type": _typed(label_type), "class_order": class_order,
        "field": _fields(field), "boxes": _paths(boxes), "captions": _paths(captions),
        "include": _listed(include), "exclude": _listed(exclude), "map": map_text(map), "source_format": source_format,
    }  # fmt: skip


def source_words(src: Path | Sequence[Path] | Mapping[str, Path | Sequence[Path]]) -> list[str]:
    """The sources as the command takes them."""
    if isinstance(src, Mapping):
        sources = [f"{_folder_name(name)}={path}" for name, paths in src.items() for path in _paths(paths)]
    elif isinstance(src, (list, tuple)):
        sources = [os.fspath(path) for path in src]
    else:
        return [os.fspath(src)]  # type: ignore[arg-type]  # a TypeError that names its type
    if not sources:
        raise ValueError(f"src={shown(src)}: give one source at least")
    return sources


def _folder_name(name: Any) -> str:
    """The key of a source: the folder below which it is put."""
    if not isinstance(name, str) or not name or "/" in name or "=" in name:
        raise ArgumentError(f"src has the key {shown(name)}: it must be the name of a folder, without / and =")
    return name


def _assigned(value: Any) -> Any:
    """Returns a dict as the values NAME=VALUE of a flag, and another value as it is."""
    return [f"{k}={os.fspath(v)}" for k, v in value.items()] if isinstance(value, Mapping) else value


def _joined(names: Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)


def _typed(types: str | Mapping[str, str] | None) -> str | None:
    if types is None or isinstance(types, str):
        return types
    if not isinstance(types, Mapping):
        raise TypeError(
            f'label_type={shown(types)}: it must be "index", "name", "float", or a dict with one for each column'
        )
    return ",".join(f"{k}={v}" for k, v in types.items())


def _fields(field: str | Sequence[str] | Mapping[str, str] | None) -> list[str]:
    if isinstance(field, Mapping):
        if not all(isinstance(text, str) for pair in field.items() for text in pair):
            raise ArgumentTypeError(f"field={shown(field)}: it must have a pattern for each name, both str")
        return [f"{name}={pattern}" for name, pattern in field.items()]
    return _listed(field)


def _paths(paths: Path | Sequence[Path] | Mapping[str, Path] | None) -> list[str]:
    if paths is None:
        return []
    if isinstance(paths, Mapping):
        return [f"{k}={os.fspath(v)}" for k, v in paths.items()]
    return [os.fspath(p) for p in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def _listed(patterns: str | Sequence[str] | None) -> list[str]:
    if patterns is None:
        return []
    return [patterns] if isinstance(patterns, str) else list(patterns)
