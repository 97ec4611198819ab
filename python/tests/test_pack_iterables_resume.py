"""An iterable that has a state goes on where an interrupted pack of it was; what a disk does not give ends a pack."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dsconv
import pytest
from dsconv._objects import serving
from object_datasets import Pictures, beside, content, pictures, png

N, STOP = 60, 37


class Stateful:
    """Pictures one after another, and how many there were. Before item `stop` it fails. `read` counts items."""

    def __init__(self, stop: int = N, state: Any = int) -> None:
        self.at, self.stop, self.read, self.kind = 0, stop, 0, state

    def __iter__(self) -> Iterator[Any]:
        try:
            for i in range(self.at, N):
                if i == self.stop:
                    raise ConnectionError("the server is away")
                self.at, self.read = i + 1, self.read + 1
                yield {"image": png(i), "label": i % 3}
        except GeneratorExit:
            self.at = 0  # as a dataset that begins again after a loop that was left
            raise

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.kind(self.at)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


@pytest.fixture(autouse=True)
def after_each_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SECONDS_BETWEEN_STATES", -1)


def pack(dataset: Any, dst: Path, **options: Any) -> Any:
    return dsconv.pack(dataset, dst, progress=False, **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [("x.lmdb", {}), ("x.tar", {"order": "key"}), ("x.tar", {}), ("x.h5", {"split": "train=0.5,val=0.5"})],
)  # fmt: skip
def test_it_goes_on(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    pack(pictures(N), tmp_path / "want" / name, **options)
    with pytest.raises(dsconv.Error, match="the server is away"):
        pack(Stateful(STOP), tmp_path / name, **options)
    for stop in (STOP + 9, N):
        again = Stateful(stop)
        if stop < N:
            with pytest.raises(dsconv.Error, match="the server is away"):
                pack(again, tmp_path / name, **options)
            assert again.read <= 9 + 1  # and the first one, which decides the fields
        else:
            pack(again, tmp_path / name, **options)
            assert again.read <= N - STOP - 9 + 1
    assert content(tmp_path / name) == content(tmp_path / "want" / name)
    assert [n for n in beside(tmp_path / name) if not n.startswith(name)] == ["want"]


def test_splits_go_on(tmp_path: Path) -> None:
    pack({"a": pictures(N), "b": pictures(N)}, tmp_path / "want" / "x.lmdb")
    with pytest.raises(dsconv.Error, match="the server is away"):
        pack({"a": Stateful(), "b": Stateful(STOP)}, tmp_path / "x.lmdb")
    first, second = Stateful(), Stateful()
    pack({"a": first, "b": second}, tmp_path / "x.lmdb")
    assert (first.read, second.read) == (1, N - STOP)
    assert content(tmp_path / "x.lmdb") == content(tmp_path / "want" / "x.lmdb")


def test_items_after_the_last_state_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(pictures(N), tmp_path / "want" / "x.lmdb")
    states = iter([-1] * 20)

    class Rare(float):
        def __lt__(self, _: float) -> bool:
            return next(states, 0) < 0

    monkeypatch.setattr(serving, "SECONDS_BETWEEN_STATES", Rare())
    with pytest.raises(dsconv.Error, match="the server is away"):
        pack(Stateful(STOP), tmp_path / "x.lmdb")
    again = Stateful()
    report = pack(again, tmp_path / "x.lmdb")
    assert report.details["datasets"][0]["resumed"] == STOP and again.read == 1 + N - 20
    assert content(tmp_path / "x.lmdb") == content(tmp_path / "want" / "x.lmdb")


def test_another_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match="the server is away"):
        pack(Stateful(STOP), tmp_path / "x.lmdb")
    other = Stateful()
    other.at = 5
    with pytest.raises(dsconv.Error, match="(?s)cannot resume.*discard=True"):
        pack(other, tmp_path / "x.lmdb")
    pack(Stateful(), tmp_path / "x.lmdb", discard=True)
    assert beside(tmp_path / "x.lmdb") == ["x.lmdb"]


def tuples(at: int) -> Any:
    return (at,)


def numbered(at: int) -> Any:
    return {at: at}


def long(at: int) -> Any:
    return "x" * (2 << 20)


@pytest.mark.parametrize("state", [complex, tuples, numbered, long])
def test_a_state_that_json_would_change_starts_over(state: Any, tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match="the server is away"):
        pack(Stateful(STOP, state), tmp_path / "x.lmdb")
    assert beside(tmp_path / "x.lmdb") == []
    again = Stateful(state=state)
    pack(again, tmp_path / "x.lmdb")
    assert again.read == N


def test_states_that_json_would_change_later_are_left_out(tmp_path: Path) -> None:
    pack(pictures(N), tmp_path / "want" / "x.lmdb")
    with pytest.raises(dsconv.Error, match="the server is away"):
        pack(Stateful(STOP, lambda at: at if at < 20 else {at: at}), tmp_path / "x.lmdb")
    again = Stateful()
    pack(again, tmp_path / "x.lmdb")
    assert again.read == 1 + N - 19
    assert content(tmp_path / "x.lmdb") == content(tmp_path / "want" / "x.lmdb")


def test_a_disk_error_of_an_iterable(tmp_path: Path) -> None:
    def read(item: Any) -> Any:
        if item[1] == 20:
            raise PermissionError(errno.EACCES, "no")
        return item

    with pytest.raises(dsconv.Error, match=r"PermissionError: \[Errno 13\] no .*test_pack_iterables_resume.py:"):
        pack(iter([(png(i), i) for i in range(N)]), tmp_path / "x.lmdb", map=read)
    assert beside(tmp_path / "x.lmdb") == []


def test_splits_of_different_classes(tmp_path: Path) -> None:
    one, other = Pictures(6), Pictures(6)
    other.classes = ["a", "c", "b"]
    with pytest.raises(ValueError, match="the splits 'train' and 'val' have different classes"):
        pack({"train": one, "val": other}, tmp_path / "x.lmdb")
    other.classes = None  # it knows none
    assert pack({"another": other, "train": one}, tmp_path / "x.lmdb").written == 12
    assert dsconv.Dataset(tmp_path / "x.lmdb").classes == one.classes


def test_an_error_names_its_type(tmp_path: Path) -> None:
    items = [{"image": png(i), **({} if i == 7 else {"text": "a"})} for i in range(20)]
    report = pack(items, tmp_path / "x.lmdb", columns={"image": "image", "caption": "text"})
    assert report.skipped == 1 and "item 7: KeyError: 'text'" in str(report.details["skipped"])


@pytest.mark.parametrize("num_workers", [0, 2])
def test_what_a_disk_does_not_give_is_no_bad_item(num_workers: int, tmp_path: Path) -> None:
    def raises(number: int) -> Any:
        def fault(_: int) -> Any:
            raise OSError(number, "no")

        return fault

    how = {"num_workers": num_workers, "multiprocessing_context": "fork"}
    with pytest.raises(dsconv.Error, match=r"item 20: OSError.*\[Errno 5\] no .*object_datasets.py:"):
        pack(Pictures(fault=raises(errno.EIO)), tmp_path / "x.lmdb", **how)
    report = pack(Pictures(fault=raises(errno.ENOENT)), tmp_path / "x.lmdb", **how)
    assert (report.written, report.skipped, report.details["datasets"][0]["resumed"]) == (39, 1, 20)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_the_first_item_may_be_bad(one_by_one: bool, tmp_path: Path) -> None:
    items = [None, (png(1), 7), (png(2), 1), (png(3), 2)]
    report = pack(iter(items) if one_by_one else items, tmp_path / "x.lmdb", map=lambda item: (item[0], item[1]))
    assert (report.written, report.skipped) == (3, 1)
    with pytest.raises(ValueError, match="item 0 of the dataset: TypeError: .*test_pack_iterables_resume.py:"):
        pack([None, None], tmp_path / "y.lmdb", map=lambda item: item[0])


def test_what_makes_no_sense(tmp_path: Path) -> None:
    items = [(png(i), i % 2) for i in range(6)]
    loader = type("DataLoader", (list,), {"batch_sampler": 1, "collate_fn": 1})(items)
    for src, options, why in [
        (items, {"classes": "ab"}, "classes='ab': it must be a list"),
        (items, {"columns": ["image", "label"]}, "columns=.*it must be a dict"),
        (items, {"num_workers": "2"}, "a whole number"),
        (loader, {}, "a DataLoader gives batches.*dataset"),
        ({"train": items, "val": items}, {"split": "a=0.5,b=0.5"}, "the dict names the splits"),
        ({"train": items, "val": []}, {}, "the split 'val' is empty"),
        ({"train": iter(items), "val": iter(())}, {}, "the split 'val' is empty"),
    ]:
        with pytest.raises((ValueError, dsconv.Error), match=why):
            pack(src, tmp_path / "x.lmdb", **options)
        assert beside(tmp_path / "x.lmdb") == []
    report = pack(items, tmp_path / "x.lmdb", classes=["only"])
    assert (report.written, report.skipped) == (3, 3) and "class 1, and the 1 classes" in str(report.details["skipped"])


def test_masks_have_one_type(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    items = [{"image": png(i), "mask": np.full((4, 4), 300 * (i == 3), np.int64)} for i in range(4)]
    assert pack(items, tmp_path / "x.lmdb").written == 4
    items[2]["mask"] = items[2]["mask"].astype(np.uint8)
    report = pack(items, tmp_path / "y.lmdb")
    assert report.skipped == 1 and "a mask of uint8, where the first items have uint16" in str(
        report.details["skipped"]
    )


def test_a_writer_that_is_not_closed_says_so(tmp_path: Path) -> None:
    w = dsconv.Writer(tmp_path / "x.lmdb")
    w.write(image=png(1), label=1)
    with pytest.warns(UserWarning, match="x.lmdb is not published"):
        del w
    with pytest.raises(TypeError):
        dsconv.Writer(tmp_path / "y.lmdb", resize=object())


def test_a_writer_whose_block_fails_is_silent(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(LookupError), dsconv.Writer(tmp_path / "x.lmdb") as w:
        w.write(image=png(1), label=1)
        raise LookupError
    run = w._run
    assert run is not None and run._served.is_set() and not recwarn.list
