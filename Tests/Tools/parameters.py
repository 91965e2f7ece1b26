#!/usr/bin/env python3
"""Counts the functions and initializers of Sources with six or more parameters.

parameters.py [LIMIT]: lists them by target; with a limit, fails if there are more.
"""
import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources"
START = re.compile(r"\b(?:func\s+(?P<name>`?[\w.]+`?|[^\s\w(]+)\s*(?:<[^({]*>)?|(?P<init>init[?!]?)(?:<[^({]*>)?)\(")
FEWEST = 6


def parameters(text, start):
    """The number of parameters in the parentheses that open before `start`."""
    depth, count = 1, 0
    for index in range(start, len(text)):
        character = text[index]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return count
        elif character == ":" and depth == 1:
            # Each parameter has one; those of tuples and dictionaries are deeper.
            count += 1
    return count


def main():
    found = {}
    for path in sorted(SOURCES.rglob("*.swift")):
        if path.is_symlink():
            continue
        text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", path.read_text())
        for match in START.finditer(text):
            before = text[max(0, match.start() - 30):match.start()]
            # A call of an initializer, such as `.init(` or `self.init(`.
            if match["init"] and re.search(r"\.\s*$", before):
                continue
            count = parameters(text, match.end())
            if count >= FEWEST:
                place = path.relative_to(SOURCES)
                found.setdefault(place.parts[0], []).append((count, place, match["name"] or "init"))
    total = sum(map(len, found.values()))
    for target, functions in sorted(found.items(), key=lambda item: -len(item[1])):
        print(len(functions), target)
        for count, place, name in functions:
            print(f"    {count} {name} ({place})")
    print(total, "functions with six or more parameters")
    if len(sys.argv) > 1 and total > int(sys.argv[1]):
        sys.exit(1)


if __name__ == "__main__":
    main()
