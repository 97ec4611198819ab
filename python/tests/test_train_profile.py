"""--profile: the printed table, and traces that TensorBoard's profiler plugin and Perfetto open."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

from dsconv.train.__main__ import main  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

# How the plugin recognises a trace: the worker's name and the time.
PLUGIN = re.compile(r"^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$")


@pytest.mark.parametrize("batches", [3, 25])  # fewer and more than the steps that are profiled
def test_profile(packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], batches: int) -> None:
    words = (
        f"--after {packed} --device cpu --model mlp --no-augment --epochs 2 --batch-size 1 --limit-batches {batches}"
    )
    assert main([*words.split(), "--quiet", "--profile", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("by torch.profiler") == 1
    for column in ("Self CPU %", "# of Calls", "dsconv.wait", "dsconv.step", "aten::addmm"):
        assert column in printed
    [side] = tmp_path.iterdir()
    [trace] = side.iterdir()
    named = PLUGIN.match(trace.name)
    assert named and named[1] == "rank0"
    events = json.loads(trace.read_text())["traceEvents"]
    check_chrome_trace(events)
    steps = {event["name"] for event in events if event.get("name", "").startswith("ProfilerStep#")}
    # The plugin's step times need them. Without further batches the last one has only the end of the epoch.
    assert len(steps) in (min(batches, 20), min(batches, 20) + 1)
    assert sum(event.get("name") == "dsconv.step" and event["ph"] == "X" for event in events) == min(batches, 20)


def check_chrome_trace(events: list[dict[str, object]]) -> None:
    """What Perfetto's importer of Chrome's JSON wants of each event."""
    assert events
    for event in events:
        assert isinstance(event["ph"], str)
        if event["ph"] == "X":
            assert float(event["ts"]) > 0 and float(event["dur"]) >= 0  # type: ignore[arg-type]
            assert {"name", "pid", "tid"} <= event.keys()
