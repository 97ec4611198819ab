"""The trainer's clock on a GPU: CUDA events of a fake GPU, whose work takes time that the host does not see."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv.train import clock  # noqa: E402

GPU = torch.device("cuda", 0)


class Stream:
    """The computing stream: `until` is when the work that is queued so far will be done, in the GPU's seconds."""

    def __init__(self) -> None:
        self.until = 0.0
        self.host = 0.0  # the host's time
        self.waits = 0

    def work(self, seconds: float) -> None:
        self.until = max(self.until, self.host) + seconds

    def synchronize(self, device: Any) -> None:
        assert device == GPU
        self.waits += 1
        self.host = self.until = max(self.until, self.host)


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Stream:
    stream = Stream()

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            assert enable_timing

        def record(self, on: Stream) -> None:
            self.at = on.until = max(on.until, on.host)

        def elapsed_time(self, other: Event) -> float:
            assert stream.host >= other.at, "an event is read before the GPU has reached it"
            return 1000 * (other.at - self.at)

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: stream)
    monkeypatch.setattr(torch.cuda, "synchronize", stream.synchronize)
    monkeypatch.setattr(clock.time, "perf_counter", lambda: stream.host)
    return stream


def epoch(stream: Stream, ready: list[float], step: float, copy: float = 0.0) -> tuple[float, dict[str, float]]:
    """Batches that are on the host at those times, a copy that the computing stream waits for, and a step."""
    measured = clock.Clock(GPU)
    measured.start()
    for at in ready:
        stream.host = max(stream.host, at)  # the loop waits for the batch
        measured.lap("wait")
        stream.work(copy)
        measured.lap("transfer")
        stream.work(step)
        measured.lap("step")
    waits = stream.waits
    found = measured.stop()
    assert (waits, stream.waits) == (1, 2), "no step waits for the GPU: only the start and the end of the epoch do"
    return found


def test_a_batch_that_comes_during_a_step_costs_no_time(stream: Stream) -> None:
    seconds, stages = epoch(stream, ready=[1.0, 2.0, 3.0, 4.0], step=5.0)
    assert seconds == pytest.approx(21.0)
    assert stages == pytest.approx({"wait": 1.0, "transfer": 0.0, "step": 20.0})


def test_a_gpu_that_starves_waits(stream: Stream) -> None:
    seconds, stages = epoch(stream, ready=[1.0, 11.0, 21.0], step=2.0, copy=0.5)
    assert seconds == pytest.approx(23.5)
    assert stages == pytest.approx({"wait": 16.0, "transfer": 1.5, "step": 6.0})
