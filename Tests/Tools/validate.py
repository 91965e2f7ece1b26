"""Converts every network of the reference corpora, the fixtures and the real models, edits and
compresses what comes out, and asks Core ML's own validator about every file.

    python3 Tests/Tools/validate.py .build/release/assay ../shared [--only WORD] [--jobs N]

Prints how many files each command wrote and how many the validator takes, then each complaint.
Networks that do not convert are counted, not listed: other tests check whether they should.
"""
import argparse
import ast
import collections
import concurrent.futures
import json
import subprocess
import sys
import tempfile
from pathlib import Path

EDITS = {
    "edit, arrays": ["--array-type", "float32"],
    "edit, author": ["--author", "Somebody"],
    "compress, half": ["--precision", "float16"],
    "compress, 8 bits": ["--bits", "8"],
    "compress, table": ["--bits", "4", "--mode", "linear_lut", "--no-fold"],
}


def corpora(shared):
    """The reference corpora, each case with the options of its meta.json."""
    # Its functions; the file itself starts to work when it is loaded.
    tree = ast.parse((shared / "tools/run_corpus.py").read_text())
    tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.FunctionDef))]
    functions = {}
    exec(compile(tree, "run_corpus.py", "exec"), functions)
    for meta in sorted(shared.glob("corpus/*/*/meta.json")):
        case = meta.parent

        def arguments(scratch, case=case, meta=meta):
            return functions["convert_arguments"](str(case), json.loads(meta.read_text()), scratch)

        yield f"corpus/{case.parent.name}", case, arguments


def pairs(root, name):
    """Files of a folder: networks, each with the weights beside it, and Core ML models."""

    def fixed(*words):
        return lambda scratch: [*map(str, words), "--custom-layers", "allow"]

    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root).parts
        if any(part.startswith(("_", ".")) for part in inner) or "hostile" in inner:
            continue
        weights = []
        if path.suffix == ".prototxt":
            beside = [file for ending in (".caffemodel", ".caffemodel.h5")
                      for file in sorted(path.parent.glob("*" + ending))]
            same = [file for file in beside if file.name.startswith(path.stem + ".")]
            weights = (same or beside)[:1]
        elif path.suffix == ".cfg":
            weights = sorted(path.parent.glob("*.weights"))
            weights = ([file for file in weights if file.stem == path.stem] or weights)[:1]
        elif path.suffix == ".json":
            weights = [file for file in (path.with_suffix(".h5"), path.with_suffix(".hdf5"))
                       if file.exists()]
        elif path.suffix == ".mlmodel":
            yield name, path, None
            continue
        elif path.suffix not in (".h5", ".hdf5", ".keras", ".caffemodel"):
            continue
        if path.suffix in (".prototxt", ".cfg", ".json") and not weights:
            continue
        yield name, path, fixed(path, *weights)


def call(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=600)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", "no answer in 600 s")


def check(task, assay, validator):
    """What became of one network: pairs of a command and a verdict."""
    group, path, arguments = task
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        model = str(path)
        files = []
        if arguments:
            model = scratch + "/model.mlmodel"
            result = call(assay, "convert", *arguments(scratch), "-q", "-o", model)
            if result.returncode:
                crash = result.returncode not in (1, 2, 64, 66)
                return [(group, "crash" if crash else "not converted", f"{path}: {result.stderr}")]
            files.append(("convert", model))
        for name, options in EDITS.items():
            written = f"{scratch}/{len(files)}.mlmodel"
            result = call(assay, name.split(",")[0], model, "-o", written, *options, "-q")
            if result.returncode == 0:
                files.append((name, written))
            else:
                crash = result.returncode not in (1, 2, 64, 66)
                found.append((name, "crash" if crash else "not written", f"{path}: {result.stderr}"))
        # One process for all files of a network; each line ends with the verdict.
        for name, file in files:
            result = call(validator, file)
            verdict = "valid" if result.returncode == 0 else "rejected"
            found.append((f"{group}" if name == "convert" else name, verdict,
                          f"{path}: {result.stdout}{result.stderr}"))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("assay")
    parser.add_argument("shared", type=Path)
    parser.add_argument("--only", default="", help="a word of the networks' paths")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    fixtures = Path(__file__).resolve().parents[2] / "Fixtures"
    tasks = [*corpora(options.shared), *pairs(fixtures, "fixtures"),
             *pairs(options.shared / "models", "models")]
    tasks = [task for task in tasks if options.only in str(task[1])]
    validator = str(options.shared / "tools/apple-validator/validate")
    counts = collections.defaultdict(collections.Counter)
    complaints = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda task: check(task, options.assay, validator), tasks):
            for name, verdict, text in found:
                counts[name][verdict] += 1
                if verdict in ("rejected", "crash"):
                    complaints.append(f"{name}: {verdict}: {text.strip()}")
    verdicts = ["valid", "rejected", "crash", "not converted", "not written"]
    print("".join(f"{word:>17}" for word in ["", *verdicts]))
    for name in counts:
        print(f"{name:>17}" + "".join(f"{counts[name][word]:15}" for word in verdicts))
    total = {word: sum(count[word] for count in counts.values()) for word in verdicts}
    print(f"{'all':>17}" + "".join(f"{total[word]:15}" for word in verdicts))
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
