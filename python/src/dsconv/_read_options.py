"""How a dataset that another program wrote is read: the arguments map and source_format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

from ._errors import ArgumentTypeError
from ._short_messages import shown

FieldMap = Union[str, Mapping[str, str]]


def map_text(given: FieldMap | None) -> str | None:
    """The map as the flag --map has it: "image=jpg,label=cls"."""
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, Mapping) or not all(isinstance(k, str) and isinstance(v, str) for k, v in given.items()):
        raise ArgumentTypeError(f'map={shown(given)}: it must be a dict such as {{"image": "jpg", "label": "cls"}}')
    return ",".join(f"{field}={key}" for field, key in given.items())


def read_options(map: FieldMap | None, source_format: str | None) -> dict[str, Any]:
    """The library's arguments for a path; none if the content of the files decides."""
    if source_format is not None and not isinstance(source_format, str):
        raise ArgumentTypeError(f'source_format={shown(source_format)}: it must be a text such as "webdataset"')
    options = {"map": map_text(map), "source_format": source_format}
    return {name: value for name, value in options.items() if value}
