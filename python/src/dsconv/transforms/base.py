"""The base class of all transforms."""

from __future__ import annotations

import functools
from typing import Any

from .plan import Plan
from .run_on_image import run_on_image


class Transform:
    """A transform of one image: an immutable value that holds its parameters.

    A call takes a PIL image (RGB or L) or a uint8 array of H x W x C or H x W, runs natively and returns the same
    kind of image, or a CHW tensor if the transform makes one. Random values are drawn from a seed that comes from
    torch's generator if torch was imported, else from Python's ``random``. A transform may be called from several
    threads, and pickled.
    """

    def word(self) -> str:
        """The native op, as ``dsconv bench --help`` lists them.

        Raises NotNative if there is no native op with these parameters.
        """
        raise NotImplementedError

    def __call__(self, image: Any) -> Any:
        return run_on_image(self._plan, image)

    @functools.cached_property
    def _plan(self) -> Plan:
        """How this transform runs when it is called alone."""
        return Plan(self.word(), kind="pil")


def is_ours(t: Any) -> bool:
    """Reports whether t's class is defined in this package. A user's subclass may do anything, so it is not ours."""
    return isinstance(t, Transform) and type(t).__module__.startswith(__name__.rpartition(".")[0])
