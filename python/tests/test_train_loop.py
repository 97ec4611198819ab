"""The reference trainer's loop, on batches in memory."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv.train import drawn_digits, loop  # noqa: E402
from dsconv.train.clock import Clock  # noqa: E402
from dsconv.train.data import Data  # noqa: E402
from dsconv.train.distributed import World  # noqa: E402
from dsconv.train.learner import Learner  # noqa: E402
from dsconv.train.progress import Progress  # noqa: E402
from dsconv.train.settings import Settings  # noqa: E402
from dsconv.train.trace import Board, Trace  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

WORLD = World(torch.device("cpu"))
MLP = Settings(model="mlp", size=28, lr=0.05, batch_size=32)


def batches(count: int, size: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    images, labels = drawn_digits.draw(count, seed=7)
    images = torch.from_numpy(images).unsqueeze(1).float() / 255
    return list(zip(images.split(size), torch.from_numpy(labels).long().split(size)))


def data(count: int, size: int, val: list | None = None, classes: int = 10) -> Data:
    return Data(batches(count, size), val, tuple(map(str, range(classes))), count, lambda number: None, channels=1)


def train(learner: Learner, given: Data, epochs: int = 1, limit: int | None = None, trace: Trace | None = None) -> list:
    trace = trace or Trace(None, 0, WORLD.device)
    progress = Progress("side", epochs, shown=False)
    return list(loop.train(learner, given, WORLD, epochs, limit, trace, progress))


def weights(learner: Learner) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in learner.network.state_dict().values()])


def test_sides_start_with_the_same_weights() -> None:
    first = weights(Learner(MLP, 10, 1, WORLD))
    torch.rand(100)  # what another side draws changes nothing
    assert torch.equal(first, weights(Learner(MLP, 10, 1, WORLD)))
    assert not torch.equal(first, weights(Learner(replace(MLP, seed=1), 10, 1, WORLD)))


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_digits_are_learnt(precision: str) -> None:
    learner = Learner(replace(MLP, precision=precision), 10, 1, WORLD)
    epochs = train(learner, data(1280, 32, val=batches(200, 50)), epochs=4)
    assert epochs[-1].loss < epochs[0].loss / 2
    assert epochs[-1].validated and epochs[-1].accuracy > 0.9
    assert all(w.dtype == torch.float32 for w in learner.network.parameters())


def test_accumulated_batches_are_one_of_twice_the_size() -> None:
    halves, whole = Learner(replace(MLP, accumulate=2), 10, 1, WORLD), Learner(MLP, 10, 1, WORLD)
    train(halves, data(320, 32))
    train(whole, data(320, 64))
    assert torch.allclose(weights(halves), weights(whole), atol=1e-5)
    other = Learner(MLP, 10, 1, WORLD)
    train(other, data(320, 32))
    assert not torch.allclose(weights(halves), weights(other), atol=1e-4)


def test_an_incomplete_group_of_batches_is_trained() -> None:
    halves, whole = Learner(replace(MLP, accumulate=4), 10, 1, WORLD), Learner(MLP, 10, 1, WORLD)
    train(halves, data(64, 32))
    train(whole, data(64, 64))
    assert torch.allclose(weights(halves), weights(whole), atol=1e-5)


def test_channels_last_gives_the_same_weights() -> None:
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    settings = Settings(model="resnet18", size=32, lr=0.01)
    planes, last = (Learner(s, 10, 1, WORLD) for s in (settings, replace(settings, channels_last=True)))
    assert last.network.layer1[0].conv1.weight.is_contiguous(memory_format=torch.channels_last)
    for learner in (planes, last):
        train(learner, data(32, 16))
    assert torch.allclose(weights(planes), weights(last), atol=1e-3)


def test_epochs_are_counted() -> None:
    given = data(100, 32)
    (epoch,) = train(Learner(MLP, 10, 1, WORLD), given)
    assert (epoch.images, epoch.steps, epoch.validated) == (100, 4, False)
    (epoch,) = train(Learner(MLP, 10, 1, WORLD), given, limit=2)
    assert (epoch.images, epoch.steps) == (64, 2)
    with pytest.raises(ValueError, match="returned no batch"):
        train(Learner(MLP, 10, 1, WORLD), replace(given, train=[]))


def test_time_counts_for_its_stage() -> None:
    class Slow(list):
        def __iter__(self):
            for batch in super().__iter__():
                time.sleep(0.05)
                yield batch

    given = data(128, 32)
    (epoch,) = train(Learner(MLP, 10, 1, WORLD), replace(given, train=Slow(given.train)))
    assert epoch.wait_seconds >= 4 * 0.05
    assert 0 < epoch.step_seconds and 0 < epoch.transfer_seconds
    assert epoch.wait_seconds + epoch.transfer_seconds + epoch.step_seconds <= epoch.seconds


def test_a_clock_starts_again() -> None:
    clock = Clock(WORLD.device)
    clock.start()
    clock.lap("step")
    clock.stop()
    clock.start()
    assert clock.stop()[1] == {"wait": 0, "transfer": 0, "step": 0}


def test_a_trace_has_the_stages_and_stops_with_the_epoch(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "traces", 0, WORLD.device)
    epochs = train(Learner(MLP, 10, 1, WORLD), data(96, 32), epochs=2, trace=trace)
    assert len(epochs) == 2 and "dsconv.step" in trace.table
    [path] = (tmp_path / "traces").iterdir()
    names = [event.get("name") for event in json.loads(path.read_text())["traceEvents"]]
    assert [names.count(f"dsconv.{stage}") for stage in ("transfer", "step")] == [3, 3]
    assert "dsconv.wait" in names


def test_curves_are_written(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = Board(tmp_path)
    epochs = train(Learner(MLP, 10, 1, WORLD), data(96, 32), epochs=2)
    for number, epoch in enumerate(epochs, 1):
        board.add(number, epoch)
    board.close()
    curves = EventAccumulator(str(tmp_path))
    curves.Reload()
    assert [event.value for event in curves.Scalars("loss")] == pytest.approx([epoch.loss for epoch in epochs])
    assert [event.step for event in curves.Scalars("images_per_second")] == [1, 2]


@pytest.mark.long
def test_a_compiled_network_trains_the_same() -> None:
    # What inductor makes takes a compiler and minutes; this backend runs the graphs as they were traced.
    compiled, plain = Learner(replace(MLP, compile="aot_eager"), 10, 1, WORLD), Learner(MLP, 10, 1, WORLD)
    assert compiled.forward is not compiled.network
    for learner in (compiled, plain):
        train(learner, data(96, 32))
    assert torch.allclose(weights(compiled), weights(plain), atol=1e-5)


def test_samples_without_a_label_are_not_trained() -> None:
    ((images, labels),) = batches(8, 8)
    padded, plain = Learner(MLP, 10, 1, WORLD), Learner(MLP, 10, 1, WORLD)
    filled = torch.cat((images, images[:2])), torch.cat((labels, torch.tensor([-1, -1])))
    nothing = images[:1], torch.tensor([-1])
    (epoch,) = train(padded, replace(data(8, 8), train=[filled]))
    train(plain, data(8, 8))
    assert epoch.images == 8
    assert torch.allclose(weights(padded), weights(plain), atol=1e-6)
    train(padded, replace(data(8, 8), train=[filled, nothing]))
    assert weights(padded).isfinite().all()


def test_the_learning_rate_falls_to_nothing() -> None:
    learner = Learner(replace(MLP, accumulate=2), 10, 1, WORLD)
    train(learner, data(160, 32), epochs=3)
    assert (learner.steps, learner.done) == (9, 9), "a step for two batches, and one for what is left of an epoch"
    assert learner.optimizer.param_groups[0]["lr"] == pytest.approx(0, abs=1e-9)
