#!/usr/bin/env python3
"""Plans the conversion of public Caffe and Darknet networks, and counts why some are refused.

    public_networks.py collect CLONES FOLDER   copies the files of public_networks.txt
    public_networks.py check ASSAY FOLDER      runs `assay convert --dry-run` on each, prints a table
    public_networks.py list CLONES             prints lines for public_networks.txt

CLONES has a clone of each repository, as OWNER+NAME. The list has the network's kind, the repository,
the commit and the path; the kind `tree` is a file of classes that a .cfg needs. Networks that are alike are there once. A network with a Python layer other
than py-faster-rcnn's ProposalLayer needs code that is not in it; such networks are counted separately.
"""
import collections
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys

LIST = os.path.splitext(os.path.abspath(__file__))[0] + ".txt"


def git(clones, repository, *arguments):
    folder = os.path.join(clones, repository.replace("/", "+"))
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True).stdout


def kind(path, text):
    """`deploy` of a Caffe network with declared inputs, `cfg` of Darknet; nothing else."""
    if path.endswith(".cfg"):
        return "cfg" if re.search(r"^\s*\[(net|network)\]", text, re.M) else None
    if not re.search(r"\blayers?\s*\{", text) or "solver" in path.lower():
        return None
    return "deploy" if re.search(r"input_dim|input_shape|[\"']Input[\"']", text) else None


def listed(clones):
    seen = set()
    for folder in sorted(os.listdir(clones)):
        if "+" not in folder:
            continue
        repository = folder.replace("+", "/")
        commit = git(clones, repository, "rev-parse", "HEAD").decode().strip()
        for path in git(clones, repository, "ls-tree", "-r", "--name-only", "HEAD").decode().splitlines():
            if not path.endswith((".prototxt", ".pt", ".cfg")) or " " in path:
                continue
            text = git(clones, repository, "show", f"{commit}:{path}").decode(errors="replace")
            what = kind(path, text)
            digest = hashlib.sha256(re.sub(r"\s+|#.*", " ", text).encode()).digest()
            if what and digest not in seen:
                seen.add(digest)
                print(what, repository, commit, path)


def entries():
    with open(LIST) as file:
        return [line.split() for line in file if line.strip() and not line.startswith("#")]


def file_name(what, repository, path):
    # A hierarchy of classes that a .cfg names is found beside it.
    if what == "tree":
        return os.path.basename(path)
    name = f"{repository}/{path}".replace("/", "__")
    return name + ("" if path.endswith((".prototxt", ".cfg")) else ".prototxt")


def collect(clones, folder):
    os.makedirs(folder, exist_ok=True)
    for what, repository, commit, path in entries():
        with open(os.path.join(folder, file_name(what, repository, path)), "wb") as file:
            file.write(git(clones, repository, "show", f"{commit}:{path}"))


def plan(assay, folder, entry):
    what, repository, _, path = entry
    file = os.path.join(folder, file_name(what, repository, path))
    with open(file, errors="replace") as stream:
        text = stream.read()
    modules = [layer for layer in re.findall(r"^\s*layer\s*:\s*[\"']([^\"']+)", text, re.M)
               if layer != "ProposalLayer"]
    command = [assay, "convert", "--dry-run", file]
    done = subprocess.run(command, capture_output=True, timeout=300)
    # OpenPose's networks are declared with 1 x 1 pixels; the message asks for the size.
    placeholder = re.search(rb"input '([^']+)' is declared with 1", done.stderr)
    if done.returncode and placeholder:
        command += ["--input-shape", placeholder[1].decode() + "=1,3,368,368"]
        done = subprocess.run(command, capture_output=True, timeout=300)
    errors = [line for line in done.stderr.decode(errors="replace").splitlines()
              if line.startswith(("error", " ")) and not line.startswith(" no layer")]
    reason = re.sub(r"^error: |\S*" + re.escape(os.path.basename(file)) + r":? ?", "",
                    errors[0] if errors else "")
    return what, bool(modules), done.returncode, reason, f"{repository} {path}"


def check(assay, folder):
    assay = os.path.abspath(assay)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        networks = [entry for entry in entries() if entry[0] != "tree"]
        results = list(pool.map(lambda entry: plan(assay, folder, entry), networks))
    table = collections.defaultdict(list)
    for what, has_python, code, reason, place in results:
        table[what + (" with Python layers" if has_python else "")].append((code, reason, place))
    worst = 1.0
    for group, rows in sorted(table.items()):
        planned = sum(code == 0 for code, _, _ in rows)
        print(f"{group}: {planned} of {len(rows)} planned")
        if "Python" not in group:
            worst = min(worst, planned / len(rows))
        for code, reason, place in sorted(rows):
            if code:
                print(f"  {place}: {reason[:200]}")
    return 0 if worst >= 0.97 else 1


def main():
    match sys.argv[1:]:
        case ["collect", clones, folder]:
            collect(clones, folder)
        case ["check", assay, folder]:
            sys.exit(check(assay, folder))
        case ["list", clones]:
            listed(clones)
        case _:
            sys.exit(__doc__)


main()
