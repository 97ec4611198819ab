"""dsconv.pack of datasets of Python: items that fail, and datasets that cannot be packed as they are."""

from __future__ import annotations

import itertools
import mmap
import multiprocessing
import random
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import object_datasets as data
import pytest
from dsconv._objects import fields
from object_datasets import Pictures, beside, content, pictures, png

FORK: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "fork"}


def pack(dataset: Any, dst: Path, **options: Any) -> dsconv.PackReport:
    """Packs, and leaves no process of its own."""
    before = data.children()
    try:
        return dsconv.pack(dataset, dst, **{"progress": False, "timeout": data.LONG, **options})
    finally:
        assert not [p for p in multiprocessing.active_children() if p.name.startswith("dsconv")]
        assert data.children() <= before or options.get("multiprocessing_context") != "fork"


@pytest.mark.parametrize("how", [{"num_workers": 0}, FORK], ids=["here", "workers"])
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (data.fails, "LookupError: the shelf is empty .*object_datasets.py:[0-9]+ fails"),
        (data.pixels, "field image: it is pixels, where the first items have files"),
        (data.text_label, "field label: 'unknown' is none of the 3 classes"),
        (data.without_image, "field image: it has no image"),
        (data.another_field, "it has 'caption', which the first items do not have"),
        (lambda i: (png(i)[:40], 1), ""),  # kept as it is
    ],
)
def test_a_bad_item_is_skipped_and_named(fault: Any, why: str, how: dict[str, Any], tmp_path: Path) -> None:
    report = pack(Pictures(fault=fault), tmp_path / "x.lmdb", **how)
    assert (report.found, report.written, report.skipped) == (40, 39, 1)
    skipped = report.details["skipped"][0]
    assert skipped["path"] == "20"
    assert skipped["cause"].startswith("item 20: ") or not why
    rows = Path(report.report).read_text()
    assert re.search(why, skipped["cause"]) and re.search(f"^20,.*{why}.*,skipped$", rows, re.M)
    assert len(dsconv.Dataset(tmp_path / "x.lmdb")) == 39
    if why:
        with pytest.raises(dsconv.Error, match=f"item 20: .*{why}"):
            pack(Pictures(fault=fault), tmp_path / "fails.lmdb", on_error="fail", **how)
        assert "fails.lmdb" not in beside(tmp_path / "fails.lmdb")


def test_bad_items_of_an_iterable(tmp_path: Path) -> None:
    items = [(png(i) if i != 7 else None, 1) for i in range(40)]
    report = pack(iter(items), tmp_path / "x.lmdb")
    assert (report.written, [s["path"] for s in report.details["skipped"]]) == (39, ["0000000007"])
    with pytest.raises(dsconv.Error, match="0000000007: field image: it has no image"):
        pack(iter(items), tmp_path / "fails.lmdb", on_error="fail")
    assert beside(tmp_path / "x") == ["x.lmdb", "x.lmdb.report.csv"]


def test_more_bad_items_than_allowed(tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match="item .*: the shelf is empty|shelf is empty"):
        pack([(png(0), 1), *[(png(i), None if i % 2 else "") for i in range(60)]], tmp_path / "x.lmdb", max_skipped=3,
             map=lambda item: data.fails(0) if item[1] == "" else item, num_workers=0)  # fmt: skip
    assert "x.lmdb" not in beside(tmp_path / "x.lmdb")


@pytest.mark.parametrize("num_workers", [1, 2])
@pytest.mark.parametrize(
    ("fault", "why", "timeout"),
    [
        (data.hangs, "item ([0-9]+): the program has not sent it for 1s", 1),
        (data.is_killed, r"worker process [0-9]+ was killed by SIGKILL; the kernel does .* item ([0-9]+): ", data.LONG),
        (data.leaves, r"the worker process [0-9]+ ended with exit code 7: .*item ([0-9]+): ", data.LONG),
    ],
    ids=["hangs", "killed", "exits"],
)  # fmt: skip
def test_a_worker_that_is_lost_ends_the_pack_which_resumes(
    fault: Any, why: str, timeout: float, num_workers: int, tmp_path: Path
) -> None:
    how = {"num_workers": num_workers, "multiprocessing_context": "fork"}
    pack(Pictures(), tmp_path / "want" / "x.lmdb", num_workers=0)
    with pytest.raises(dsconv.Error, match=f"(?s){why}") as caught:
        pack(Pictures(fault=fault), tmp_path / "x.lmdb", timeout=timeout, **how)
    assert "x.lmdb" not in beside(tmp_path / "x.lmdb") and (tmp_path / "x.lmdb.partial").is_dir()
    report = pack(Pictures(), tmp_path / "x.lmdb", **how)
    # The last item that was asked of a worker is named, or one before it if the machine stood still for a second.
    named = re.search(f"(?s){why}", str(caught.value))
    assert named and report.details["datasets"][0].get("resumed", 0) == int(named[1]) <= 20
    assert content(tmp_path / "x.lmdb") == content(tmp_path / "want" / "x.lmdb")
    assert beside(tmp_path / "x.lmdb") == ["want", "x.lmdb"]


def test_an_item_that_takes_too_long_in_this_process(tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match="item [0-9]+: the program has not sent it for 500ms"):
        pack(Pictures(fault=lambda _: time.sleep(2)), tmp_path / "x.lmdb", timeout=0.5, num_workers=0)


def test_what_processes_cannot_get_or_share(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be sent to a process that is started by spawn.*num_workers=0.*lambda"):
        pack(Pictures(fault=lambda _: None), tmp_path / "x.lmdb", num_workers=1, multiprocessing_context="spawn")
    shared = Pictures()
    with open(__file__) as file:
        shared.inside = {"deep": [file]}  # type: ignore[attr-defined]
        with pytest.raises(
            ValueError, match=f"the open file '.*{Path(__file__).name}', which processes that are forked"
        ):
            pack(shared, tmp_path / "x.lmdb", **FORK)
        with pytest.raises(ValueError, match="the open file"):
            pack({"a": Pictures(), "b": shared}, tmp_path / "x.lmdb", **FORK)
        assert beside(tmp_path / "x") == []
        assert pack(shared, tmp_path / "here.lmdb", multiprocessing_context="fork").written == 40  # in this process
    shared.inside = type("Tensor", (), {"is_cuda": True})()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="the dataset has a tensor on a GPU"):
        pack(shared, tmp_path / "x.lmdb", **FORK)
    shared.inside = (np.zeros(4), Pictures, data.fails, itertools)  # type: ignore[attr-defined]
    assert pack(shared, tmp_path / "y.lmdb", **FORK).written == 40


@pytest.mark.long
def test_large_items(tmp_path: Path) -> None:
    large = np.zeros((10_000, 10_000, 3), np.uint8)  # 300 MB
    large[::1000] = 200
    report = pack([large], tmp_path / "x.tar", encode="jpeg:50", num_workers=1, multiprocessing_context="fork")
    assert report.written == 1 and np.shape(dsconv.Dataset(tmp_path / "x.tar")[0][0]) == large.shape


def test_a_value_above_4_gb_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "sparse", "wb+") as file:
        file.truncate(5 << 30)
        with (
            mmap.mmap(file.fileno(), 0) as large,
            pytest.raises(ValueError, match="5368709120 bytes: a value has at most 4 GB"),
        ):
            fields.binary(large)


@pytest.mark.parametrize("suffix", [".lmdb", ".tar"])
def test_keys_must_differ(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two items have the key 'k'"):
        pack(Pictures(), tmp_path / f"x{suffix}", keys=["k"] * 40)
    with pytest.raises(ValueError, match="keys has 3 keys"):
        pack(Pictures(), tmp_path / f"x{suffix}", keys=["a", "b", "c"])
    with pytest.raises(dsconv.Error, match='two samples have the key "3"'):
        pack(pictures(40, id=lambda i: str(i if i < 39 else 3)), tmp_path / f"x{suffix}", keys="id")
    assert beside(tmp_path / "x") == []


def broken(at: int) -> Iterator[Any]:
    for i in range(40):
        if i == at:
            raise LookupError("the belt is torn")
        yield png(i), i % 3


@pytest.mark.parametrize("order", [None, "key"])
@pytest.mark.parametrize("suffix", [".lmdb", ".tar", ".h5", ".tfrecord"])
@pytest.mark.parametrize("at", [0, 1, 30])
def test_an_iterable_that_raises_leaves_nothing(at: int, suffix: str, order: Any, tmp_path: Path) -> None:
    with pytest.raises((dsconv.Error, LookupError), match="the belt is torn") as caught:
        pack(broken(at), tmp_path / f"x{suffix}", order=order)
    if at > 0:
        assert "test_pack_objects.py" in str(caught.value) and isinstance(caught.value.__cause__, LookupError)
    assert beside(tmp_path / "x") == []


def test_what_another_pack_has_begun_stays(tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match="shelf"):
        pack(Pictures(fault=data.fails), tmp_path / "x.lmdb", on_error="fail", num_workers=0)
    with pytest.raises(dsconv.Error, match="resume"):
        pack(broken(40), tmp_path / "x.lmdb")
    assert pack(Pictures(), tmp_path / "x.lmdb", num_workers=0).details["datasets"][0]["resumed"] == 20


def test_an_iterable_is_read_by_this_process(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="num_workers=2: an iterable dataset is read by this process alone"):
        pack(broken(-1), tmp_path / "x.lmdb", num_workers=2)
    assert beside(tmp_path / "x") == []


@pytest.mark.parametrize("empty", [[], (), iter(()), {}, {"a": []}, {"a": iter(())}, Pictures(0), {"a": Pictures(0)}])
def test_an_empty_dataset(empty: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is empty|give one source at least"):
        pack(empty, tmp_path / "x.lmdb")
    assert beside(tmp_path / "x") == []


@pytest.mark.parametrize("src", [5, None, object(), Pictures, {"a": 5}])
def test_what_is_no_dataset(src: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="neither a path nor anything that can be indexed or iterated"):
        pack(src, tmp_path / "x.lmdb")


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"text": "a", "n": 1}, "no field of 'text', 'n' is an image: name it by columns="),
        ((np.zeros((4, 4, 3), np.float32), 1), r"float32.*dataset\.transform = None"),
        ((np.zeros((3, 8, 8), np.uint8), 1), r"channels first: transpose\(1, 2, 0\)"),
        ((np.zeros((4, 4, 3), np.uint8), 1), "encode='png'.*the path or the bytes of each file"),
        ((png(0), "cat"), r"field label is 'cat'.*classes=\[\.\.\.\].*columns="),
        ((png(0), 1, 2), "3 values without names.*columns="),
    ],
)
def test_items_that_need_an_option(item: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=why):
        pack([item] * 3, tmp_path / "x.lmdb")
    with pytest.raises(ValueError, match=why):
        pack(iter([item] * 3), tmp_path / "x.lmdb")
    assert beside(tmp_path / "x") == []


def test_float_tensors(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(ValueError, match=r"float32.*dataset\.transform = None"):
        pack([(torch.zeros(3, 8, 8), 1)], tmp_path / "x.lmdb", encode="png")
    chw = torch.arange(3 * 5 * 7, dtype=torch.uint8).reshape(3, 5, 7)
    pack([(chw, 1)], tmp_path / "x.lmdb", encode="png")
    assert np.array_equal(dsconv.Dataset(tmp_path / "x.lmdb")[0][0], chw.permute(1, 2, 0))


def test_values_that_are_missing(tmp_path: Path) -> None:
    nested = {"a": None, "b": [None, {"c": None}]}
    items = [{"image": png(i), "label": None, "meta": [nested, None, []][i], "note": None} for i in range(3)]
    pack(items, tmp_path / "x.h5", num_workers=0)
    read = dsconv.Dataset(tmp_path / "x.h5", fields=("meta", "note", "label"))
    assert [read[i] for i in range(3)] == [(nested, None, -1), (None, None, -1), ([], None, -1)]


def test_random_items_are_warned_of(tmp_path: Path) -> None:
    def random_pixels(_: int) -> Any:
        return np.frombuffer(random.randbytes(48), np.uint8).reshape(4, 4, 3), 1

    with pytest.warns(UserWarning, match="an item differs when it is read again.*give it to the Loader"):
        pack(Pictures(fault=random_pixels, at=0), tmp_path / "x.lmdb", encode="png", num_workers=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pack(Pictures(), tmp_path / "y.lmdb", num_workers=0)


def test_processes_and_start_methods_do_not_change_bytes(tmp_path: Path) -> None:
    ways = [
        (None, 0),
        ("fork", 1),
        ("fork", 3),
        ("spawn", 1),
        ("spawn", 3),
        ("forkserver", 1),
        ("forkserver", 3),
        (None, None),
    ]
    packed = []
    for method, n in ways:
        dst = tmp_path / f"{method}{n}" / "x.tar"
        pack(Pictures(), dst, num_workers=n, multiprocessing_context=method)
        packed.append(content(dst))
    assert [found == packed[0] for found in packed] == [True] * len(ways)


@pytest.mark.parametrize("name", ["x.lmdb", "x.h5", "x.tfrecord"])
def test_the_order_of_splits_and_keys_does_not_change_bytes(name: str, tmp_path: Path) -> None:
    few, many = Pictures(7), Pictures(30)
    pack({"train": many, "val": few}, tmp_path / "a" / name, num_workers=0)
    pack({"val": few, "train": many}, tmp_path / "b" / name, **FORK)
    assert content(tmp_path / "a" / name) == content(tmp_path / "b" / name)
    assert len(dsconv.Dataset(tmp_path / "a" / name, split="val")) == 7
    keys = [f"{i * 7 % 40:03}" for i in range(40)]  # of item i
    pack(Pictures(), tmp_path / "c" / name, keys=keys, **FORK)
    ordered = sorted(range(40), key=keys.__getitem__)
    items = Pictures()
    items_in_order = [items[i] for i in ordered]
    pack(items_in_order, tmp_path / "d" / name, keys=sorted(keys), classes=items.classes, num_workers=0)
    assert content(tmp_path / "c" / name) == content(tmp_path / "d" / name)
    read = dsconv.Dataset(tmp_path / "c" / name, fields=("key", "label"))
    assert {k: v for k, v in read} == {k: i % 3 for i, k in enumerate(keys)}
