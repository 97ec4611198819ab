"""Shards packed by engines. The engines themselves are fakes here; lab/engines/tests has real ones."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable

import dsconv
import fake_engines
import pytest
from dsconv.engines import _unit

SHARDS = 3
Engine = Callable[..., "tuple[dsconv.PackReport | None, list[int]]"]


@pytest.fixture
def plan(command: str, photos: Path, tmp_path: Path) -> Path:
    """A plan of three shards of the photos."""
    path = tmp_path / "plan.json"
    arguments = ["shards", "plan", photos, tmp_path / "out" / "x-%03d.tar", f"--shards={SHARDS}", "-o", path]
    (tmp_path / "out").mkdir()
    subprocess.run([command, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
    return path


@pytest.fixture
def fake_ray(monkeypatch: pytest.MonkeyPatch) -> fake_engines.Ray:
    ray = fake_engines.Ray()
    monkeypatch.setitem(sys.modules, "ray", ray)  # type: ignore[arg-type]
    return ray


@pytest.fixture(params=["ray", "spark", "dask"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Calls an engine's pack. The result is the report, and the shards that were submitted."""
    name = request.param
    module = importlib.import_module(f"dsconv.engines.{name}")
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(as_completed=fake_engines.as_completed))

    def pack(plan: Path, **options: Any) -> tuple[dsconv.PackReport | None, list[int]]:
        ray, client, context = fake_engines.Ray(), fake_engines.DaskClient(), fake_engines.SparkContext()
        monkeypatch.setitem(sys.modules, "ray", ray)
        arguments = {"ray": (), "dask": (client,), "spark": (SimpleNamespace(sparkContext=context),)}[name]
        report = module.pack(plan, *arguments, **options)
        tasks = ray.tasks + client.tasks + context.tasks
        return report, [task.value for task in tasks]

    return pack


def fake_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    """Lets dsconv run a script of the shell instead of its command."""
    script = tmp_path / "command"
    script.write_text(f"#!/bin/sh\n{lines}\n")
    script.chmod(0o755)
    monkeypatch.setenv("DSCONV_COMMAND", str(script))


def wait_for(path: Path) -> None:
    end = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.01)


def test_the_result_is_that_of_pack(engine: Engine, plan: Path, photos: Path, tmp_path: Path) -> None:
    report, submitted = engine(plan)
    assert sorted(submitted) == [0, 1, 2]
    assert report is not None and report.written == report.found == 48
    (tmp_path / "reference").mkdir()
    dsconv.pack(photos, tmp_path / "reference" / "x-%03d.tar", shard_count=SHARDS, progress=False)
    for folder in (tmp_path / "reference", tmp_path / "reference" / "x.tar.dsconv"):
        result = tmp_path / "out" / folder.relative_to(tmp_path / "reference")
        files = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
        assert {p.name: p.read_bytes() for p in result.iterdir() if p.is_file()} == files


def test_only_missing_shards_are_submitted(engine: Engine, plan: Path) -> None:
    _unit.pack(str(plan), 1)
    assert sorted(engine(plan, commit=False)[1]) == [0, 2]
    report, submitted = engine(plan)
    assert submitted == [] and report is not None
    assert engine(plan)[1] == []  # after the commit


def test_without_commit(engine: Engine, plan: Path) -> None:
    assert engine(plan, commit=False, threads=2)[0] is None
    assert _unit.missing(str(plan)) == []
    assert not list((plan.parent / "out").glob("*.tar"))


def test_relative_plan(engine: Engine, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plan.parent)
    assert engine(Path(plan.name), commit=False)[1]


def test_failure_names_the_shard(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_command(tmp_path, monkeypatch, 'echo "dsconv: $4: the disk is full" >&2; exit 1')
    with pytest.raises(dsconv.Error, match="^shard 2 of 3: 2: the disk is full$"):
        _unit.pack(str(plan), 2)
    fake_command(tmp_path, monkeypatch, "kill -9 $$")
    with pytest.raises(dsconv.Error, match="^shard 2 of 3: dsconv shards pack ended with exit code -9$"):
        _unit.pack(str(plan), 2)


def test_a_plan_that_does_not_exist(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match="gone.json"):
        engine(tmp_path / "gone.json")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_command_ends_with_its_worker(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake command ends as dsconv does: when its standard input does."""
    fake_command(tmp_path, monkeypatch, f"touch {tmp_path}/begun; cat; touch {tmp_path}/ended")
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from dsconv.engines import _unit; _unit.pack('plan.json', 0)"
    )
    worker = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    wait_for(tmp_path / "begun")
    worker.send_signal(number)
    assert worker.wait() != 0
    wait_for(tmp_path / "ended")


def test_settings_of_ray(fake_ray: fake_engines.Ray, plan: Path) -> None:
    from dsconv.engines import ray

    ray.pack(plan, threads=2, retries=7, in_flight=2, address="here:1")
    assert fake_ray.settings == {"num_cpus": 2, "max_retries": 7, "retry_exceptions": True}
    assert fake_ray.addresses == ["here:1"] and fake_ray.most_in_flight == 2
    assert [task.arguments for task in fake_ray.tasks] == [(str(plan), i, 2) for i in range(SHARDS)]
    ray.pack(plan, address="there:1")
    assert fake_ray.addresses == ["here:1"]  # the connection is kept


def test_failure_under_ray(
    fake_ray: fake_engines.Ray, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    from dsconv.engines import ray

    fake_command(tmp_path, monkeypatch, f'[ "$2 $4" != "pack 0" ] && exec {command} "$@"; exit 1')
    with pytest.raises(dsconv.Error, match="shard 0 of 3"):
        ray.pack(plan)
    assert [task.cancelled for task in fake_ray.tasks] == [False, True, True]


def test_settings_of_dask(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    from dsconv.engines import dask

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(as_completed=fake_engines.as_completed))
    client = fake_engines.DaskClient()
    fake_command(tmp_path, monkeypatch, f'[ "$2 $4" != "pack 1" ] && exec {command} "$@"; exit 1')
    with pytest.raises(dsconv.Error, match="shard 1 of 3"):
        dask.pack(plan, client, retries=7)
    assert client.retries == 7 and all(task.cancelled for task in client.tasks)
    monkeypatch.setenv("DSCONV_COMMAND", command)
    dask.pack(plan, client)
    assert client.tasks[-1].arguments == (str(plan), 1, 1) and client.tasks[-1].released
    assert len(set(client.keys)) == len(client.keys) == 4  # no key is used again


def test_a_partition_for_each_shard(plan: Path) -> None:
    from dsconv.engines import spark

    context = fake_engines.SparkContext()
    spark.pack(plan, context)
    assert context.partitions == SHARDS
    with pytest.raises(TypeError, match="Spark Connect"):
        spark.pack(plan, SimpleNamespace())


@pytest.mark.parametrize(("name", "module"), [("ray", "ray"), ("dask", "distributed")])
def test_an_engine_that_is_not_installed(name: str, module: str, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    engine = importlib.import_module(f"dsconv.engines.{name}")
    arguments = [fake_engines.DaskClient()] if name == "dask" else []
    with pytest.raises(ImportError, match=f"{module} is not installed here; pip install {module}"):
        engine.pack(plan, *arguments)
