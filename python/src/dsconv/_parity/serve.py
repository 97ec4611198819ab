"""What the command runs: images come on standard input, and the certificate goes to standard output.

Each message on standard input is two lengths (8 bytes each, big-endian), JSON of the first length and an image of the
second. The first message tells what is compared. Then come the images of samples, those of several samples
mixed; a sample's last message has the name "end". Each answer on standard output is a line of JSON: the number of a
sample that was compared or, after the end of the input, the certificate.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compare import Given

Message = tuple[dict[str, Any], bytes]


def main() -> None:
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    lock = threading.Lock()

    def answer(**value: Any) -> None:
        with lock:
            answers.write(json.dumps(value) + "\n")
            answers.flush()

    try:
        from PIL import Image
    except Exception as e:
        answer(error=f"{type(e).__name__}: {e}")
        return
    from .compare import Comparison
    from .report import text_of

    messages = received()
    start, _ = next(messages)
    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = start["max_pixels"] / 2  # it raises from twice that
    Image.init()  # not by two threads at once
    comparison = Comparison(start)

    def compare(number: int, end: dict[str, Any], given: dict[str, Given]) -> None:
        try:
            comparison.sample(end["key"], end.get("changed", False), given)
            answer(sample=number)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    with ThreadPoolExecutor(start["workers"]) as pool:
        waiting: dict[int, dict[str, Given]] = {}
        for header, data in messages:
            number, name = header["sample"], header["name"]
            if name == "end":
                pool.submit(compare, number, header, waiting.pop(number))
            else:
                waiting.setdefault(number, {})[name] = given_in(header, data)
    found = comparison.certificate()
    answer(equal=found.equal, certificate=found.as_json(), text=text_of(found))


def received() -> Iterator[Message]:
    while lengths := sys.stdin.buffer.read(16):
        header, image = (sys.stdin.buffer.read(n) for n in struct.unpack(">QQ", lengths))
        yield json.loads(header), image


def given_in(header: dict[str, Any], data: bytes) -> Given:
    from .compare import Given
    from .images import Pixels

    image: bytes | Pixels = data
    if "shape" in header:
        height, width, channels = header["shape"]
        image = Pixels(data, height, width, channels, header["bits"])
    return Given(
        image,
        header.get("error", ""),
        header.get("unsupported", False),
        header.get("color", "rgb"),
        header.get("orient", False),
        tuple(header["region"]),
        header.get("by", ""),
    )
