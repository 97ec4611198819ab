"""The C compiler of portable wheels, `portable_cc.py TARGET ARGUMENTS...`: the machine's own compiles, Zig's links.

What makes a program need a new glibc is the linking: Zig has the symbols of old ones. What makes pixels is the
compiling: resizes that gcc has compiled take three quarters of the time of clang's.
"""

from __future__ import annotations

import os
import sys

COMPILES = {"-c", "-E", "-S"}


def main(target: str, arguments: list[str]) -> None:
    if COMPILES.intersection(arguments):
        command = ["gcc", *arguments]
    else:
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target, *arguments]
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
