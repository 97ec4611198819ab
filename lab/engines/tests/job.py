"""A packing job for the tests of an engine: photos, options, and the bytes that must come out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

# One thread works at a shard for a second or two: long enough for a kill to meet it. On a slow or busy machine smaller
# images do, such as DSCONV_ENGINE_SIDE=800.
SIDE = os.environ.get("DSCONV_ENGINE_SIDE", "2400")
OPTIONS = ("--resize", f"shorter:{SIDE}", "--upscale", "--filter", "lanczos", "--encode", "jpeg:10")
SHARDS = 16
PATTERN = "train-%06d.tar"


def photos() -> str:
    """The photos to pack: DSCONV_PHOTOS, or where make puts them."""
    folder = os.environ.get("DSCONV_PHOTOS") or "/tmp/dsconv-photos/clothing"
    assert Path(folder).is_dir(), f"{folder} does not exist; set DSCONV_PHOTOS to a folder of photos in class folders"
    return folder


def dsconv(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """Runs the dsconv of PATH, and returns its standard output."""
    done = subprocess.run(["dsconv", *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, f"dsconv {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}"
    return done.stdout


def pack_reference(folder: Path) -> Path:
    """What `dsconv pack` makes in the folder by itself."""
    folder.mkdir()
    dsconv("pack", photos(), str(folder / PATTERN), f"--shard-count={SHARDS}", *OPTIONS)
    return folder


class Job:
    """A plan, and where its shards go. The folder must lie beside the reference's: a dataset has relative paths."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.output = folder / "out"
        self.output.mkdir()
        self.destination = str(self.output / PATTERN)
        self.plan = folder / "plan.json"
        self.started = time.monotonic()
        dsconv("shards", "plan", photos(), self.destination, f"--shards={SHARDS}", "-o", str(self.plan), *OPTIONS)

    def attempt(self, shard: int) -> bool:
        """Reports whether an attempt at the shard is under way, or was given up without being removed."""
        return any(self._shards().glob(f"try-{shard:05d}-*"))

    def is_packed(self, shard: int) -> bool:
        """Reports whether the shard is there."""
        return (self._shards() / f"shard-{shard:05d}").exists() or not self._shards().exists()

    def spoil(self, how: str, shard: int) -> None:
        """Makes the first attempt at a shard one that "fails" or "straggles", if recorded-dsconv runs it."""
        Path(f"{self.plan}.{how}-{shard}").touch()

    def attempts(self) -> int:
        """How many units were started, if recorded-dsconv ran them."""
        return len(self._attempts())

    def attempts_at(self, shard: int) -> int:
        """How many of them were attempts at this shard."""
        return self._attempts().count(str(shard))

    def missing(self) -> list[int]:
        return [int(line) for line in dsconv("shards", "missing", str(self.plan)).split()]

    def commit(self) -> None:
        dsconv("shards", "commit", str(self.plan))

    def assert_published(self, reference: Path) -> None:
        """Checks that the dataset is the reference, byte for byte, that it is sound, and that nothing else is left."""
        assert_equal_bytes(reference, self.output)
        dsconv("verify", self.destination)

    def seconds(self) -> float:
        return round(time.monotonic() - self.started, 1)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _attempts(self) -> list[str]:
        notes = Path(f"{self.plan}.attempts")
        return notes.read_text().split() if notes.exists() else []

    def _shards(self) -> Path:
        return Path(self.destination + ".shards")


def assert_equal_bytes(reference: Path, result: Path) -> None:
    """Checks that two folders have the same files with the same bytes: so no .shards and no .partial either."""
    expected, found = digests(reference), digests(result)
    assert sorted(found) == sorted(expected), "the files differ"
    different = [name for name in expected if found[name] != expected[name]]
    assert not different, f"the bytes differ: {different}"


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file, and an empty one for each folder, by path."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return found


def record(engine: str, **result: Any) -> None:
    """Appends a result to DSCONV_ENGINE_RESULTS/ENGINE.json, a list."""
    folder = os.environ.get("DSCONV_ENGINE_RESULTS")
    if not folder:
        return
    path = Path(folder) / f"{engine}.json"
    results = json.loads(path.read_text()) if path.exists() else []
    results.append({"time": time.strftime("%Y-%m-%dT%H:%M:%S"), **result})
    path.write_text(json.dumps(results, indent=1) + "\n")
