"""What tests share: a folder of photos, the same packed, and the command that makes both."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from dsconv import _command

# A process that tests start is ended by Ctrl-C, also where the tests were started with SIGINT
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
    """An LMDB of photos, byte for byte."""
    path = tmp_path_factory.mktemp("packed") / "photos.lmdb"
    subprocess.run([command, "pack", str(photos), str(path), "--quiet"], check=True)
    return path


@pytest.fixture
def one_thread():
    """PyTorch computes on one thread: several wait for one another where cores are few and busy."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
