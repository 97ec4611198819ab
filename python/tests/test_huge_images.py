"""Files of a few bytes whose headers claim very large images."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

PEAK = 1_500_000_000

PROGRAM = """
import sys
sys.modules["torch"] = None # its own memory is not what is measured
import dsconv
loader = dsconv.Loader(sys.argv[1], 32, sys.argv[2], num_workers=2, on_error="skip")
print(sum(len(images) for images, _ in loader))
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(int(line.split()[1]) * 1024)
"""


def wide_png(width: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes(width + 1))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def wide_gif(side: int) -> bytes:
    canvas = b"GIF89a" + struct.pack("<HH", side, side) + bytes(3)
    return canvas + b"," + struct.pack("<HHHH", 0, 0, 1, 1) + bytes([0, 2, 2, 0x4C, 0x01, 0]) + b";"


@pytest.mark.parametrize(
    "transforms",
    [
        "resize:256,rotate:10,centercrop:224",
        pytest.param("resize:256,centercrop:224", marks=pytest.mark.long),
        pytest.param("rrc:224,flip", marks=pytest.mark.long),
    ],
)
def test_a_loader_stays_within_its_memory(tmp_path: Path, transforms: str) -> None:
    folder = tmp_path / "images" / "a"
    folder.mkdir(parents=True)
    for i in range(4):
        Image.new("RGB", (64, 48), (i, 2, 3)).save(folder / f"sound-{i}.png")
        (folder / f"canvas-{i}.gif").write_bytes(wide_gif(13377))
    for i in range(10):
        (folder / f"wide-{i}.png").write_bytes(wide_png(4_300_000 + i))
    (folder / "widest.png").write_bytes(wide_png(1_000_000))
    program = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "images"), transforms],
        capture_output=True,
        text=True,
        check=False,
    )
    assert program.returncode == 0, program.stderr
    images, peak = map(int, program.stdout.split())
    assert images >= 4
    assert peak < PEAK
