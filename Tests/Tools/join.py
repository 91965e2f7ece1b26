#!/usr/bin/env python3
"""Puts what fits on one line there: a statement, a body, the parameters of a declaration, the last
arguments of a call.

join.py [--check] [FILE ...]: of what swift-format does without regard to existing line breaks, takes
the hunks that become one line. Prints how many lines that saves; --check changes nothing."""
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPENING = ("(", "[", "{", "=", "return")
OPERATORS = (".", "?", ":", "+", "-", "&&", "||", "*", "as ", "<", ">", "/")
ELEMENT = re.compile(r"\s*(?:\(|\[|\.|case |[A-Z]\w*\()")


def squashed(lines):
    return re.sub(r",([)\]])", r"\1", "".join("".join(lines).split()))


def fits(old, new):
    """Whether a hunk that becomes one line reads better as one."""
    first, line = old[0].rstrip(), new.lstrip()
    if squashed(old) != squashed([new]) or "//" in new or "@" in new or "catch" in new:
        return False
    if line.startswith(("->", "{", "}", ")", "]", "case", "let", "extension")) or ")) var " in new:
        return False
    if new.endswith("{") and (old[-1].strip() == "{" or not re.search(r"\b(func|init)\b", new)):
        return False
    if first.endswith(","):
        # Elements of a list keep their lines; arguments do not.
        return new.endswith(")") and not any(ELEMENT.match(text) for text in old)
    if first.strip() == "{" or re.match(r"[\w, ]+ in$", old[1].strip()):
        return False
    return first.endswith(OPENING) or old[1].lstrip().startswith(OPERATORS)


def main():
    files = [pathlib.Path(name) for name in sys.argv[1:] if name != "--check"] or [
        path for path in sorted((ROOT / "Sources").rglob("*.swift")) if not path.is_symlink()]
    saved = 0
    with tempfile.TemporaryDirectory() as folder:
        settings = json.loads((ROOT / ".swift-format").read_text())
        settings["respectsExistingLineBreaks"] = False
        configuration = pathlib.Path(folder, "settings.json")
        configuration.write_text(json.dumps(settings))
        copies = [pathlib.Path(folder, f"{number}.swift") for number in range(len(files))]
        for path, copy in zip(files, copies):
            copy.write_text(path.read_text())
        subprocess.run(
            ["swift", "format", "--in-place", "--parallel", "--configuration", configuration, *copies],
            check=True)
        for path, copy in zip(files, copies):
            before, after = path.read_text().split("\n"), copy.read_text().split("\n")
            matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
            result = []
            for kind, start, end, first, last in matcher.get_opcodes():
                old, new = before[start:end], after[first:last]
                isShorter = kind == "replace" and len(new) == 1 < len(old)
                result += new if isShorter and fits(old, new[0]) else old
            saved += len(before) - len(result)
            if "--check" not in sys.argv and len(result) < len(before):
                path.write_text("\n".join(result))
    print(saved, "lines")


if __name__ == "__main__":
    main()
