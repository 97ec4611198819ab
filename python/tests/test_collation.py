"""What transforms return is collated as by torch's default_collate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dsconv
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")


def small(image: Any) -> Any:
    return torch.tensor(list(image.resize((2, 2)).tobytes()))


RETURNED = {
    "dict": lambda image: {"x": small(image), "size": image.size, "name": "a"},
    "list": lambda image: [small(image), small(image)[:5]],
    "tuple": lambda image: (small(image), 7),
    "nested": lambda image: {"views": [small(image), {"y": small(image)}]},
}


@pytest.mark.parametrize("kind", RETURNED)
def test_as_by_a_dataloader(packed: Path, kind: str) -> None:
    theirs = torch.utils.data.DataLoader(dsconv.Dataset(packed, transform=RETURNED[kind]), 5)
    for mine, want in zip(dsconv.Loader(packed, 5, RETURNED[kind]), theirs):
        torch.testing.assert_close(mine[0], want[0]) if kind != "dict" else same(mine[0], want[0])


def same(mine: Any, want: Any) -> None:
    assert list(mine) == list(want) and mine["name"] == want["name"]
    torch.testing.assert_close([mine["x"], mine["size"]], [want["x"], want["size"]])


def test_without_torch(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    import numpy as np
    from dsconv._python_transforms import stack_column

    monkeypatch.setitem(sys.modules, "torch.utils.data", None)
    found = stack_column([{"x": np.ones(2), "v": [1, "a"]}, {"x": np.zeros(2), "v": [2, "b"]}])
    assert found["x"].tolist() == [[1, 1], [0, 0]]
    assert found["v"][0].tolist() == [1, 2] and found["v"][1] == ["a", "b"]
