"""Counts the strings of library targets that name options of the command line.

    python3 Tests/Tools/settings.py [ASSAY]

Messages of libraries name settings instead, as \\(setting: "imageInput"), and each front end spells them.
The exit code is 1 if there are such strings, or if a setting is not an option. Scripts that
`assay record` prints call the program, and are not messages.
"""

import pathlib
import re
import sys

from options import ROOT, options


def main():
    assay = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".build/debug/assay")
    known = {name for names in options(assay) for name in names}
    hidden = (ROOT / "Sources/AssayCommand/Options/SourceArguments.swift").read_text()
    known |= {"--" + name for name in re.findall(r'customLong\("([a-z-]+)"\)', hidden)}
    wrong, settings = [], {}
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        name = str(path.relative_to(ROOT))
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.lstrip().startswith("//"):
                continue
            for setting in re.findall(r'\\\(setting: "(\w+)"\)', line):
                settings.setdefault("--" + re.sub("[A-Z]", lambda m: "-" + m[0].lower(), setting), f"{name}:{number}")
            if "/AssayCommand/" in name or "/Recording/" in name:
                continue
            if re.search(r'"[^"]*(?<![\w-])--[a-z]', line):
                wrong.append(f"{name}:{number}: {line.strip()}")
    unknown = {s: place for s, place in settings.items() if s not in known}
    print(f"{len(wrong)} strings of libraries name options, {len(settings)} settings, {len(unknown)} unknown")
    print("\n".join(wrong + [f"{place}: {s}" for s, place in unknown.items()]), end="")
    return bool(wrong or unknown)


if __name__ == "__main__":
    sys.exit(main())
