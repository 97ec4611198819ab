"""Messages of errors are short: none prints the elements of a tensor, an array or a list."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest
from dsconv import _short_messages, transforms

torch = pytest.importorskip("torch", reason="torch is not installed")
Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

LONG = 12345.678  # in each value, so that its elements are found in a message
VALUES = {
    "tensor": torch.full((64, 64), LONG),
    "array": np.full((64, 64), LONG),
    "vector": np.full(5000, LONG),
    "list": [LONG] * 5000,
    "tensors": [torch.full((64, 64), LONG)] * 9,
    "dict": {i: [LONG] * 100 for i in range(100)},
    "text": f"{LONG} " * 5000,
    "bytes": f"{LONG} ".encode() * 5000,
    "image": Image.new("RGB", (64, 64)),
}
# Texts for what takes a path: a name of a file may be long. Python's own float() prints all of a text.
PATHS = {"src", "dst", "path", "labels", "report"}


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """What users call, by name."""
    yield from (
        (name, getattr(transforms, name))
        for name in transforms.__all__
        if inspect.isclass(getattr(transforms, name)) and name not in ("InterpolationMode", "Plan")
    )
    yield from ((name, getattr(dsconv, name)) for name in ("Dataset", "Loader", "bench", "pack", "timed"))


def parameters(call: Callable[..., Any]) -> list[inspect.Parameter]:
    found = inspect.signature(call).parameters.values()
    return [p for p in found if p.name not in ("self", "dataloader") and p.kind is not p.VAR_KEYWORD]


def called(name: str, call: Callable[..., Any], given: dict[str, Any], packed: Path) -> None:
    """Calls it with arguments that are right but for those given."""
    right: dict[str, Any] = {
        "path": packed, "batch_size": 4, "src": packed, "dst": packed, "iterable": [], "size": 8,
        "transforms": [transforms.Resize((8, 8))], "num_classes": 3, "mean": (0.5,), "std": (0.5,), "degrees": 3,
        "bits": 3, "threshold": 3, "sharpness_factor": 2, "progress": False, "t": None, "transform": None, "seed": 1,
        "image": None,
    }  # fmt: skip
    named, rest = {}, []
    for p in parameters(call):
        if p.kind is p.VAR_POSITIONAL:
            rest = [given[p.name]] if p.name in given else []
        elif p.name in given or p.default is p.empty:
            named[p.name] = given.get(p.name, right.get(p.name))
    if name == "Dataset" and "transforms" in given:
        named.pop("transform", None)
    made = call(*rest, **named)
    if callable(made) and name not in ("Dataset", "Loader"):
        made(given.get("image", Image.new("RGB", (9, 9))))
    if name in transforms.__all__ and callable(made):
        transforms.translate(made)
    if name == "Dataset":
        made[0]
    if name == "Loader":
        next(iter(made))


@pytest.mark.parametrize("name", [name for name, _ in public()])
def test_no_argument_is_printed(name: str, packed: Path) -> None:
    call, long = dict(public())[name], []
    for p in parameters(call):
        for kind, value in VALUES.items():
            if kind in ("text", "bytes") and (p.name in PATHS or name in transforms.__all__):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    called(name, call, {p.name: value}, packed)
                except Exception as error:
                    said = str(error)
                    if len(said) > 1000 or "tensor([" in said or "array([" in said or said.count(f"{LONG}, ") > 12:
                        long.append((p.name, kind, type(error).__name__, len(said), said[:200]))
    assert not long, "\n".join(map(str, long))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (VALUES["tensor"], "Tensor of shape (64, 64)"),
        ([torch.zeros(3)] * 2, "[Tensor of shape (3,), Tensor of shape (3,)]"),
        ({"a": np.zeros((1, 2))}, "{'a': ndarray of shape (1, 2)}"),
        (np.float32(3) * 2, repr(np.float32(6))),
        (list(range(10**6)), "[0, 1, 2, 3, 4, 5, ...]"),
        ("rrc:224", "'rrc:224'"),
        (None, "None"),
    ],
)
def test_values_are_shown_shortly(value: Any, text: str) -> None:
    assert _short_messages.shown(value) == text


def test_transforms_are_named() -> None:
    named = _short_messages.named
    assert [named(x) for x in (np.shape, test_transforms_are_named, torch.nn.Flatten(), lambda: 0)] == [
        "shape", "test_transforms_are_named", "Flatten(start_dim=1, end_dim=-1)",
        "test_transforms_are_named.<locals>.<lambda>",
    ]  # fmt: skip
