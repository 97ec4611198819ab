"""What the parts of gpu-check know."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass


class Skip(Exception):
    """The machine lacks what a part needs."""


@dataclass(frozen=True)
class Setting:
    """The folders and libraries of a run."""

    root: str  # of the repository
    work: str  # folder for what is made
    site: str  # folder with the unpacked wheels
    command: str  # the program dsconv
    photos: str  # folder of class folders
    images: int
    nvjpeg: str  # path, or "" to let dsconv find it
    compile: bool = False
    turn: float = 1.0  # seconds of each measurement of a rate
    models: tuple[str, ...] = ("resnet18", "resnet50")  # that are trained

    def environment(self) -> dict[str, str]:
        """The environment of the parts' processes."""
        found = dict(os.environ)
        found["PYTHONPATH"] = os.pathsep.join(filter(None, [self.site, os.environ.get("PYTHONPATH", "")]))
        found["DSCONV_COMMAND"] = self.command
        return found

    def gpu_flags(self) -> list[str]:
        """The flags of dsconv for decoding on the GPU."""
        return ["--decoder", "gpu", *(["--nvjpeg", self.nvjpeg] if self.nvjpeg else [])]

    def gpu_options(self) -> dict[str, object]:
        """The options of Loader for decoding on the GPU."""
        return {"decoder": "gpu", "device": "cuda", **({"nvjpeg": self.nvjpeg} if self.nvjpeg else {})}

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Setting:
        found = json.loads(text)
        return cls(**{**found, "models": tuple(found["models"])})
