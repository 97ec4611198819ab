"""Fixtures for all tests: a folder of photos, the packed photos, and the command."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from dsconv import _command

# Ctrl-C must end the processes that tests start, even if the tests themselves were started with SIGINT
# ignored, as in the background of a script: a child inherits that, but not a handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda *_: None)


@pytest.fixture(scope="session")
def command() -> str:
    """The dsconv program."""
    return _command.path()


@pytest.fixture(scope="session")
def photos(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 48 small JPEGs, photo-like, in folders of 3 classes."""
    folder = tmp_path_factory.mktemp("photos") / "images"
    options = ["--n=48", "--classes=3", "--size=96x72", "--quiet"]
    subprocess.run([command, "synth", str(folder), *options], check=True)
    return folder


@pytest.fixture(scope="session")
def packed(command: str, photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The photos packed into an LMDB, without changing their bytes."""
    path = tmp_path_factory.mktemp("packed") / "photos.lmdb"
    subprocess.run([command, "pack", str(photos), str(path), "--quiet"], check=True)
    return path


@pytest.fixture
def one_thread():
    """Makes PyTorch compute on one thread: on few, busy cores several threads wait for each other."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
