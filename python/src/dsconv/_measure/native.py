"""dsconv's equals of a dataset's transforms."""

from __future__ import annotations

import importlib
from typing import Any

from dsconv.transforms import translate

from .clock import AUGMENT
from .walk import Found


def native(found: list[Found]) -> dict[str, str]:
    """For the names of transforms that dsconv has: its own ops, as `dsconv bench --augment` takes them."""
    words: dict[str, str] = {}
    for part in found:
        if part.label.kind == AUGMENT and part.method:
            word = _words(part.obj)
            if word:
                words.setdefault(part.label.name, word)
    return words


def _words(transform: Any) -> str:
    """The native ops of one transform; "" if it has none of its own or is not native."""
    for chain in ([transform], _on_tensors(transform)):
        if chain is None:
            continue
        try:
            plan = translate(chain)
        except Exception:  # of another library, or impossible at this place
            continue
        if plan.rest is None and not plan.mixers and not plan.named:
            return plan.words or (f"--dtype {plan.dtype}" if plan.dtype else "")
    return ""


def _on_tensors(transform: Any) -> Any:
    """The transform where it finds what it takes: a tensor, or what Albumentations passes on."""
    module = type(transform).__module__.partition(".")[0]
    try:
        if module == "albumentations":
            return importlib.import_module(module).Compose([transform])
        if module == "torchvision":
            from torchvision.transforms import ToTensor

            return [ToTensor(), transform]
    except ImportError:
        pass
    return None
