"""Checks parameters and writes them as the native ops take them, such as ":0.8" or ":scale=0.1-1"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from .._short_messages import shown
from .interpolation import interpolation_name
from .not_native import NotNative


def number(x: Any) -> str:
    """x without an exponent, whose minus sign would look like a range."""
    x = float(x)
    if not math.isfinite(x):
        raise NotNative(f"{shown(x)} is not a finite number")
    s = format(Decimal(repr(x)), "f")
    return s[:-2] if s.endswith(".0") else s


def numbers(values: Sequence[Any]) -> str:
    return "/".join(number(v) for v in values)


def whole(x: Any) -> int:
    """x as an int; NotNative if it is not a whole number."""
    if isinstance(x, bool) or int(x) != x:
        raise NotNative(f"{shown(x)} is not a whole number")
    return int(x)


def sides(size: Any) -> tuple[int, int]:
    """Height and width of a size, which is one number for both, or (height, width)."""
    given = tuple(size) if isinstance(size, Sequence) else (size,)
    if len(given) not in (1, 2):
        raise NotNative(f"size {shown(size)}: wanted one or two numbers")
    height, width = whole(given[0]), whole(given[-1])
    if not (0 < height <= 65536 and 0 < width <= 65536):
        raise NotNative(f"size {shown(size)}: wanted 1 to 65536")
    return height, width


def size_text(size: Any) -> str:
    height, width = sides(size)
    return str(height) if height == width else f"{width}x{height}"


def _range_text(bounds: Any) -> str:
    low, high = bounds
    if not 0 <= low <= high:
        raise NotNative(f"range {shown(bounds)}: wanted 0 <= low <= high")
    return f"{number(low)}-{number(high)}"


def range_option(name: str, bounds: Any, default: tuple[float, float]) -> str:
    """:NAME=LOW-HIGH, or "" for the default."""
    return "" if tuple(bounds) == default else f":{name}={_range_text(bounds)}"


def probability(p: Any, default: float = 0.5) -> str:
    """:P, or "" for the default."""
    if not 0 <= p <= 1:
        raise NotNative(f"p={shown(p)} is not between 0 and 1")
    return "" if p == default else f":{number(p)}"


def filter_option(mode: Any, default: str, allowed: Sequence[str] | None = None) -> str:
    """:FILTER, or "" for the default. On PIL images nearest-exact is nearest."""
    name = interpolation_name(mode)
    name = "nearest" if name == "nearest-exact" else name
    if allowed is not None and name not in allowed:
        raise NotNative(f"interpolation {shown(name)}: only {', '.join(allowed)} can move pixels")
    return "" if name == default else f":{name}"


# The filters of affine transforms.
AFFINE = ("nearest", "bilinear", "bicubic")


def fill_values(fill: Any) -> tuple[int, ...]:
    """Levels of 0 to 255, one for all channels or one for each."""
    if fill is None:
        return (0,)
    if isinstance(fill, (dict, str)):
        raise NotNative(f"fill={shown(fill)} is neither a number nor one for each channel")
    values = tuple(whole(v) for v in (fill if isinstance(fill, Sequence) else (fill,)))
    if not values or any(not 0 <= v <= 255 for v in values):
        raise NotNative(f"fill={shown(fill)} is outside of 0 to 255")
    return values


def fill_option(fill: Any) -> str:
    values = fill_values(fill)
    return f":fill={numbers(values)}" if any(values) else ""
