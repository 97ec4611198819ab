"""Writes TIFFs of every kind into a folder: by hand, by Pillow, and by libtiff's tiffcp if it is installed.

Arguments: the folder. Prints nothing; a kind that this Pillow cannot write is left out.
"""

import contextlib
import io
import os
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np
from PIL import Image

FOLDER = sys.argv[1]
R = np.random.default_rng(5)
W, H = 37, 23
SIZES = {3: "H", 4: "I", 16: "Q"}


def noise(n):
    return R.integers(0, 256, n, dtype=np.uint8).tobytes()


def row(samples, bits, w=W):
    return (w * samples * bits + 7) // 8


def tiff(
    name, photometric, bits, blocks, *, order="<", compression=1, w=W, h=H, tile=None, rows=None, big=False, **more
):
    """A TIFF of the blocks, which are strips or tiles. more: other tags, as tNUMBER=[values]."""
    tags = {256: (4, [w]), 257: (4, [h]), 258: (3, bits), 259: (3, [compression]), 262: (3, [photometric])}
    tags.update({277: (3, [len(bits)]), 278: (4, [rows or h])} if tile is None else {277: (3, [len(bits)])})
    if tile:
        tags.update({322: (4, [tile[0]]), 323: (4, [tile[1]])})
    tags.update(
        {
            int(tag[1:]): (4 if int(tag[1:]) > 500 and tag != "t530" else 3, v)
            for tag, v in more.items()
            if v is not None
        }
    )
    head, body, offsets = (16 if big else 8), b"", []
    for block in blocks:
        if compression == 8:
            block = zlib.compress(block)
        body += b"\0" * (len(body) % 2)
        offsets.append((head + len(body), len(block)))
        body += block
    tags[324 if tile else 273] = (4, [at for at, _ in offsets])
    tags[325 if tile else 279] = (4, [n for _, n in offsets])
    body += b"\0" * (len(body) % 2)
    entries, values = b"", b""
    for tag in sorted(tags):
        kind, numbers = tags[tag]
        v = b"".join(struct.pack(order + SIZES[kind], x) for x in numbers)
        inline = 8 if big else 4
        if len(v) > inline:
            values += b"\0" * (len(values) % 2)
            at = head + len(body) + len(values)
            values += v
            v = struct.pack(order + ("Q" if big else "I"), at)
        entries += struct.pack(order + ("HHQ" if big else "HHI"), tag, kind, len(numbers)) + v.ljust(inline, b"\0")
    values += b"\0" * (len(values) % 2)
    first = head + len(body) + len(values)
    mark = b"II" if order == "<" else b"MM"
    start = mark + (struct.pack(order + "HHHQ", 43, 8, 0, first) if big else struct.pack(order + "HI", 42, first))
    directory = struct.pack(order + ("Q" if big else "H"), len(tags)) + entries + bytes(8)
    with open(os.path.join(FOLDER, name + ".tif"), "wb") as f:
        f.write(start + body + values + directory)


def by_hand(order, end):
    def both(name, photometric, bits, **more):
        planes = len(bits) if more.get("t284") == [2] else 1
        for compression in (1, 8):
            blocks = [noise(row(len(bits) // planes, bits[0]) * H) for _ in range(planes)]
            tiff(f"{name}-{end}-{compression}", photometric, bits, blocks, order=order, compression=compression, **more)

    for photometric in (0, 1):
        for bits in (1, 2, 4, 8, 16):
            for fill in (None, [2]):
                both(f"gray{photometric}-{bits}-{'reversed' if fill else 'plain'}", photometric, [bits], t266=fill)
    for bits, kind in ((12, 1), (8, 2), (16, 2)):
        both(f"integer{bits}-{kind}", 1, [bits], t339=[kind])
    for kind in (1, 2):
        numbers = R.integers(-100, 600, (H, W)).astype(order + "i4").tobytes()
        tiff(f"integer32-{kind}-{end}", 1, [32], [numbers], order=order, t339=[kind])
    for photometric in (0, 1):
        tiff(
            f"float{photometric}-{end}",
            photometric,
            [32],
            [(R.random((H, W)) * 400 - 60).astype(order + "f4").tobytes()],
            order=order,
            t339=[3],
        )
    for extra in (0, 1, 2):
        both(f"la-{extra}", 1, [8, 8], t338=[extra])
        both(f"indexa-{extra}", 3, [8, 8], t338=[extra], t320=R.integers(0, 65536, 768).tolist())
    for planar in (None, [2]):
        lies = "planes" if planar else "together"
        for bits in (8, 16):
            both(f"rgb{bits}-{lies}", 2, [bits] * 3, t284=planar)
            for extra in ([], [0], [1], [2], [999], [0, 0], [1, 0], [2, 0], [2, 0, 0]):
                n = 3 + max(1, len(extra))
                both(
                    f"rgb{bits}-{lies}-{n}-{'-'.join(map(str, extra))}", 2, [bits] * n, t284=planar, t338=extra or None
                )
            for extra in ([], [0], [0, 0]):
                both(f"cmyk{bits}-{lies}-{len(extra)}", 5, [bits] * (4 + len(extra)), t284=planar, t338=extra or None)
    for bits in (1, 2, 4, 8):
        for fill in (None, [2]):
            both(
                f"index{bits}-{'reversed' if fill else 'plain'}",
                3,
                [bits],
                t266=fill,
                t320=R.integers(0, 65536, 3 << bits).tolist(),
            )
    both("ycbcr", 6, [8] * 3, t530=[1, 1])
    for across, down in ((2, 2), (2, 1)):
        size = 36 * 24 * (2 + across * down) // (across * down) if down == 2 else 36 * 24 * 2
        tiff(
            f"ycbcr{across}{down}-{end}",
            6,
            [8] * 3,
            [noise(size)],
            order=order,
            compression=8,
            w=36,
            h=24,
            t530=[across, down],
        )
    for bits, n, photometric in ((8, 3, 2), (16, 1, 1), (1, 1, 1), (4, 1, 0), (8, 4, 5)):
        for compression in (1, 8):
            tiles = [noise(row(n, bits, 16) * 16) for _ in range(6)]
            tiff(
                f"tiles{bits}-{n}-{end}-{compression}",
                photometric,
                [bits] * n,
                tiles,
                order=order,
                tile=(16, 16),
                compression=compression,
            )
    tiff(f"largetile-{end}", 2, [8] * 3, [noise(512 * 512 * 3)], order=order, tile=(512, 512), compression=8)
    tiff(
        f"tilesinplanes-{end}",
        2,
        [8] * 3,
        [noise(256) for _ in range(18)],
        order=order,
        tile=(16, 16),
        compression=8,
        t284=[2],
    )
    tiff(f"strips-{end}", 2, [8] * 3, [noise(row(3, 8) * min(5, H - y)) for y in range(0, H, 5)], order=order, rows=5)
    padded = [noise(row(3, 8) * 5) for _ in range(0, H, 5)]  # the last strip has more rows than the image
    tiff(f"paddedstrips-{end}", 2, [8] * 3, padded, order=order, rows=5, compression=8)
    for o in range(1, 9):
        tiff(f"turned{o}-{end}", 2, [8] * 3, [noise(row(3, 8) * H)], order=order, compression=8, t274=[o])
    if order == "<":  # Pillow reads no others
        tiff("big-rgb", 2, [8] * 3, [noise(row(3, 8) * H)], big=True)
        tiff("big-gray16", 1, [16], [noise(row(1, 16) * H)], big=True, compression=8, t274=[6])


def by_pillow():
    small = Image.fromarray(R.integers(0, 256, (11, 14, 3), dtype=np.uint8)).resize((61, 47), Image.BICUBIC)
    gray = small.convert("L")
    images = {mode: small.convert(mode) for mode in ("L", "RGB", "RGBA", "CMYK", "YCbCr", "P", "1", "RGBX")}
    images.update({"I16": Image.fromarray(np.asarray(gray).astype(np.uint16) * 201), "I": gray.convert("I")})
    images.update({"F": gray.convert("F"), "LA": gray.convert("LA"), "PA": small.convert("P").convert("PA")})

    def save(name, image, **options):
        try:
            image.save(os.path.join(FOLDER, f"pillow-{name}.tif"), **options)
        except (OSError, ValueError, RuntimeError, KeyError, SystemError):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(FOLDER, f"pillow-{name}.tif"))

    for how in ("raw", "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate", "packbits", "lzma", "zstd"):
        for mode, image in images.items():
            save(f"{how}-{mode}", image, compression=how)
    for mode in ("L", "RGB", "CMYK", "YCbCr", "RGBX"):
        save(f"jpeg-{mode}", images[mode], compression="jpeg", quality=80)
    for how in ("group3", "group4", "tiff_ccitt"):
        for photometric in (0, 1):
            save(f"{how}-{photometric}", images["1"], compression=how, tiffinfo={262: photometric})
    for mode in ("RGB", "L", "I16"):
        save(f"predictor-{mode}", images[mode], compression="tiff_lzw", tiffinfo={317: 2})
    save("pages", small, save_all=True, append_images=[small.rotate(180)], compression="tiff_lzw")
    for sampling in (0, 2):  # JPEG of the old style
        b = io.BytesIO()
        small.resize((48, 32)).save(b, "JPEG", subsampling=sampling)
        j = b.getvalue()
        factors = [2, 2] if sampling == 2 else [1, 1]
        tiff(f"oldjpeg{sampling}", 6, [8] * 3, [j], compression=6, w=48, h=32, t513=[8], t514=[len(j)], t530=factors)


def by_tiffcp():
    if shutil.which("tiffcp") is None:
        return
    for mode in ("RGB", "L", "CMYK", "I16", "1"):
        source = os.path.join(FOLDER, f"pillow-raw-{mode}.tif")
        for how in ("lzw:2", "zip:2", "packbits", "jpeg", "jpeg:r", "g4", "g3:2d:fill"):
            for name, options in (
                ("tiles", "-t -w 32 -l 16"),
                ("planes", "-p separate"),
                ("big", "-8 -r 7"),
                ("lsb", "-f lsb2msb"),
            ):
                to = os.path.join(FOLDER, f"tiffcp-{mode}-{how.replace(':', '')}-{name}.tif")
                if subprocess.run(["tiffcp", *options.split(), "-c", how, source, to], capture_output=True).returncode:
                    if os.path.exists(to):
                        os.remove(to)


os.makedirs(FOLDER, exist_ok=True)
by_hand("<", "little")
by_hand(">", "big")
by_pillow()
by_tiffcp()
