"""dsconv._measure.look: timers in a DataLoader's workers, which change nothing."""

from __future__ import annotations

import builtins
import io
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import slow_parts  # noqa: E402
from dsconv._measure.look import Look, look, looked_at  # noqa: E402
from dsconv._measure.rows import parts  # noqa: E402
from torch.utils.data import DataLoader, IterableDataset, Subset  # noqa: E402

KINDS = [{}, {"num_workers": 2}, {"num_workers": 1, "persistent_workers": True}]


def epoch(loader: Any) -> list[Any]:
    torch.manual_seed(7)
    return [x for batch in loader for x in (batch if isinstance(batch, list) else [batch])]


def equal(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b))


def by_name(found: Look) -> dict[str, dict[str, Any]]:
    return {part["name"]: part for part in parts(found.workers())}


@pytest.mark.parametrize("options", KINDS, ids=["loop", "workers", "persistent"])
@pytest.mark.parametrize("style", ["map", "iterable"])
def test_batches_stay_the_same(tmp_path: Path, options: dict[str, Any], style: str) -> None:
    dataset = slow_parts.Files(tmp_path) if style == "map" else slow_parts.Stream()
    loader = DataLoader(dataset, 4, shuffle=style == "map", **options)
    attributes = {key: value for key, value in vars(loader).items() if key != "_iterator"}
    opened, classes = builtins.open, {c: dict(vars(c)) for c in (type(dataset), slow_parts.Slow, torch.nn.Module)}
    before = epoch(loader)
    with look(loader) as found:
        during = epoch(loader)
    after = epoch(loader)
    assert equal(before, during) and equal(before, after)
    assert {key: value for key, value in vars(loader).items() if key != "_iterator"} == attributes
    assert builtins.open is opened and io.open is opened
    assert all(dict(vars(c)) == kept for c, kept in classes.items())
    assert sum(w.samples for w in found.workers()) == 12


def test_parts_have_names_kinds_and_counts(tmp_path: Path) -> None:
    dataset = slow_parts.Files(tmp_path, read=0.004, decode=0.004, augment=0.004)
    with look(DataLoader(dataset, 4, num_workers=2)) as found:
        epoch(DataLoader(dataset, 4))  # of another loader: not looked into
        assert found.workers() == []
    loader = DataLoader(dataset, 4, num_workers=2)
    with look(loader) as found:
        epoch(loader)
    measured = by_name(found)
    kinds = {name: (part["kind"], part["calls"]) for name, part in measured.items()}
    assert kinds["slow_parts.Files.decode"] == ("other", 12)
    assert kinds["slow_parts.Slow"] == ("augment", 12)
    assert kinds["slow_parts.sleep (waiting)"] == ("read", 12)
    assert kinds["collate (default_collate)"] == ("collate", 3)
    assert kinds["slow_parts.spin"][1] == 12  # by decode: what Slow calls is Slow's
    assert all(part["wall_us"] >= part.get("cpu_us", 0) >= 0 for part in measured.values())
    waited, computed = measured["slow_parts.sleep (waiting)"], measured["slow_parts.spin"]
    assert waited["wall_us"] >= 3000 and waited.get("cpu_us", 0) == 0
    assert computed["cpu_us"] >= 3500 and measured["slow_parts.Slow"]["cpu_us"] >= 3500


def test_open_files_are_read_and_stay_ordinary(tmp_path: Path) -> None:
    class Lines(slow_parts.Files):
        def __getitem__(self, index: int) -> Any:
            with open(self.paths[index], "rb") as f, open(self.paths[index], encoding="latin-1") as text:
                assert isinstance(f, io.BufferedReader) and f.name == str(self.paths[index]) and f.mode == "rb"
                assert f.fileno() > 0 and f.read(3) == f.peek(1)[:1] * 3 and len(text.read()) == 4000
                f.seek(0)
                return torch.tensor(len(f.read()))

    loader = DataLoader(Lines(tmp_path), 4)
    with look(loader) as found:
        assert equal(epoch(loader), [torch.tensor([4000] * 4)] * 3)
    assert by_name(found)["open"]["kind"] == "read"


def test_functions_and_nested_datasets_are_found(tmp_path: Path) -> None:
    torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
    transforms = torchvision.transforms

    def double(x: Any) -> Any:
        return 2 * x

    dataset = slow_parts.Files(tmp_path)
    chain = [transforms.Lambda(double), transforms.Normalize([0.5], [0.5]), double]
    dataset.transform = transforms.Compose([transforms.Lambda(lambda x: x.reshape(1, 1, 1)), *chain])
    loader = DataLoader(Subset(dataset, range(8)), 4)
    before = epoch(loader)
    with look(loader) as found:
        assert equal(epoch(loader), before)
    assert dataset.transform.transforms[1:] == chain and chain[2] is double
    measured = {part.name: part for w in found.workers() for part in w.parts}
    name = "test_measure_look.test_functions_and_nested_datasets_are_found.double"
    calls = {key: times.calls for key, times in measured.items()}
    assert calls["Compose"] == calls["Normalize"] == calls[name] == calls[f"Lambda({name})"] == 8
    assert calls["Subset.__getitems__"] == 2 and calls["slow_parts.Files.__getitem__"] == 8


class Counting(IterableDataset):
    """Its iterator has a state of its own."""

    def __iter__(self) -> Any:
        self.position = 0
        return self

    def __next__(self) -> torch.Tensor:
        self.position += 1
        if self.position > 6:
            raise StopIteration
        return torch.tensor(self.position)

    def state_dict(self) -> dict[str, int]:
        return {"position": self.position}


def test_iterators_keep_what_they_have() -> None:
    dataset = Counting()
    loader = DataLoader(dataset, 2)
    with look(loader) as found:
        assert equal(epoch(loader), [torch.tensor([k, k + 1]) for k in (1, 3, 5)])
        assert iter(dataset).state_dict() == {"position": 0}
    (measured,) = found.workers()
    assert measured.samples == 6


def test_an_error_in_a_worker_is_the_users(tmp_path: Path) -> None:
    dataset = slow_parts.Files(tmp_path)
    dataset.paths[5].unlink()
    for workers in (0, 1):
        loader = DataLoader(dataset, 4, num_workers=workers)
        with pytest.raises(FileNotFoundError, match=r"5\.bin"), look(loader):
            epoch(loader)
        assert loader.worker_init_fn is None and "Files" not in repr(builtins.open)


def test_spawned_workers(tmp_path: Path) -> None:
    loader = DataLoader(slow_parts.Files(tmp_path), 4, num_workers=1, multiprocessing_context="spawn")
    with look(loader) as found:
        assert len(epoch(loader)) == 6
    assert by_name(found)["slow_parts.Slow"]["calls"] == 12


def test_a_budget_leaves_batches_out(tmp_path: Path) -> None:
    loader = DataLoader(slow_parts.Files(tmp_path, n=40), 2)
    before = epoch(loader)
    with look(loader, budget=1e-9) as found:
        assert equal(epoch(loader), before)
    (measured,) = found.workers()
    assert 1 <= len(measured.loads) < 20
    assert {part.calls for part in measured.parts if part.kind == "collate"} == {len(measured.loads)}
    assert slow_parts.Files.__getitem__.__name__ == "__getitem__"
    assert not hasattr(slow_parts.Files.__getitem__, "__wrapped__")


def test_running_workers_are_left_alone(tmp_path: Path) -> None:
    loader = DataLoader(slow_parts.Files(tmp_path), 4, num_workers=1, persistent_workers=True)
    before, workers = epoch(loader), loader._iterator._workers
    found = Look()
    torch.manual_seed(7)
    with looked_at(loader, found, 0.01) as iterator:
        assert equal([labels for _, labels in iterator], before[1::2])
    assert loader._iterator._workers is workers and found.workers() == []
    found.close()
    assert not found.folder.exists()


def test_loads_have_the_parts(tmp_path: Path) -> None:
    loader = DataLoader(slow_parts.Files(tmp_path), 4, num_workers=2)
    with look(loader) as found:
        epoch(loader)
    assert sum(len(w.loads) for w in found.workers()) == len(loader)
    for w in found.workers():
        assert w.loads and w.worker in (0, 1)
        assert sum(part.wall for part in w.parts if part.name != "sending to the loop") <= sum(
            e - b for b, e in w.loads
        )
