"""Lists the options of the commands and the pages that use them.

    python3 Tests/Tools/options.py [ASSAY]

Prints each distinct option with the pages that name it, and the spellings of the version before, which
no help shows. README and docs count, but not docs/commands.md, which is the help itself. The exit code is 1
if no page uses an option, or if there are more than 110.
"""

import pathlib
import re
import subprocess
import sys

LIMIT = 110
ROOT = pathlib.Path(__file__).parents[2]


def text(assay, *words):
    return subprocess.run([assay, *words], check=True, capture_output=True, text=True).stdout


def commands(assay, command=()):
    lines = text(assay, "help", *command).partition("SUBCOMMANDS:\n")[2]
    names = re.findall(r"^  ([a-z]+) ", lines, re.M)
    return [command] * bool(command) + [c for name in names for c in commands(assay, (*command, name))]


def options(assay):
    """The names of each option: those of several commands that share a name are one."""
    found = []
    for command in commands(assay):
        for line in re.findall(r"^  (-.*)", text(assay, "help", *command), re.M):
            names = set(re.findall(r"(?:^|, )(-[a-z]|--[a-z][a-z0-9-]*)", line))
            same = [other for other in found if max(names, key=len) in other or names & other]
            for other in same:
                found.remove(other)
                names |= other
            found.append(names)
    return sorted(found, key=lambda names: max(names, key=len))


def main():
    assay = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".build/debug/assay")
    pages = {p.relative_to(ROOT): p.read_text() for p in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]}
    del pages[pathlib.Path("docs/commands.md")]
    unused = []
    listed = options(assay)
    for names in listed:
        name = max(names, key=len)
        users = [str(p) for p, t in pages.items() if re.search(re.escape(name) + r"(?![\w-])", t)]
        print(", ".join(sorted(names, key=len)), "→", ", ".join(users) or "no page")
        if not users:
            unused.append(name)
    source = (ROOT / "Sources/AssayCommand/EarlierSpellings.swift").read_text()
    earlier = sorted(set(re.findall(r'earlier: "(--[a-z-]+)"', source)))
    images = (ROOT / "Sources/AssayCommand/Options/SourceArguments.swift").read_text()
    earlier += re.findall(r'customLong\("([a-z-]+)"\)[^)]*\.private', images)
    for file in (ROOT / "Sources/AssayCommand").rglob("*.swift"):
        words = re.findall(r"@Option\(help: \.private\)\s+var (\w+)", file.read_text())
        earlier += ["--" + re.sub("[A-Z]", lambda m: "-" + m[0].lower(), word) for word in words]
    print(f"{len(listed)} options, {len(unused)} on no page", *unused)
    print(f"{len(earlier)} earlier spellings:", *earlier)
    return len(listed) > LIMIT or bool(unused)


if __name__ == "__main__":
    sys.exit(main())
