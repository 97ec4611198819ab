"""How dsconv loads a dataset, where a comparison can choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DTYPES = {"fp16": "float16", "bf16": "bfloat16"}


@dataclass(frozen=True)
class Way:
    """What decodes JPEGs, cpu or gpu, and where pixels are normalised, on the host or the device."""

    decoder: str = "cpu"
    normalize: str = "host"
    nvjpeg: str | None = None

    def options(self, precision: str) -> dict[str, Any]:
        """The Loader's options. What the device converts becomes the type that the network computes in."""
        found: dict[str, Any] = {}
        if self.decoder == "gpu":
            found |= {"decoder": "gpu", "nvjpeg": self.nvjpeg}
        if self.normalize == "device":
            found["normalize"] = "device"
        return found | {"dtype": DTYPES.get(precision)} if found else found

    def settings(self) -> dict[str, str]:
        """What the report says of it: nothing of the ordinary way."""
        chosen = {"decoder": self.decoder, "normalize": self.normalize}
        return {name: value for name, value in chosen.items() if value not in ("cpu", "host")}

    def __str__(self) -> str:
        """A description for the table; "" for the ordinary way."""
        return ", ".join(f"{name} {value}" for name, value in self.settings().items())
