"""What sweeps and rules find, with the fields of the report's JSON."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Point:
    """One value of a Sweep."""

    value: float = 0.0
    epoch_seconds: float = 0.0
    images_per_second: float = 0.0
    memory_estimate_bytes: int = field(default=0, metadata={"optional": True})
    peak_memory_bytes: int = field(default=0, metadata={"optional": True})  # of all processes


@dataclass
class Sweep:
    """The same DataLoader with several values of one setting."""

    setting: str = ""
    dataset: str = ""
    points: list[Point] = field(default_factory=list)
    knee: float = 0.0  # the smallest value whose epoch is within 5 % of the fastest


@dataclass
class Rule:
    """A rule of thumb, tested on this machine."""

    name: str = ""
    dataset: str = ""
    measured: bool = False
    helps: bool = False
    gain: float = field(default=0.0, metadata={"optional": True})  # share of the epoch that it saved
    memory_bytes: int = field(default=0, metadata={"optional": True})  # more than without it
    unclear: bool = field(default=False, metadata={"optional": True})  # the rounds differ too much to say
    text: str = ""
