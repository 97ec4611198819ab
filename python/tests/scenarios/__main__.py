"""Scenarios of test_processes.py, each in a separate process: python scenarios SCENARIO DATASET [ARGUMENT].

What a scenario asserts fails the process.
"""

from __future__ import annotations

import sys

import forks
import leaks
import loops
import signals

if __name__ == "__main__":
    found = [vars(module)[sys.argv[1]] for module in (forks, signals, loops, leaks) if sys.argv[1] in vars(module)]
    found[0](*sys.argv[2:])
