"""Runs the program `assay` of the package, without the package."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(__file__), "assay", "assay")
    os.execv(program, [program, *sys.argv[1:]])
