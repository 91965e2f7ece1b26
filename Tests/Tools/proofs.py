#!/usr/bin/env python3
"""proofs.py ASSAY SHARED [--jobs N] [--every N] [--list] — are the conversions of all corpora proved?

Converts every network of SHARED/corpus (caffe, keras, keras-variants, keras1) and the Keras files of dl4j in
SHARED/models with `assay convert --prove`, and counts what it says: proved, proved in part (a layer that the
interpreter of the source lacks, or an output without a counterpart), not proved (a layer differs), and not
converted. Prints every network that is not proved, and with --list every one that is proved in part. The exit code
is 1 if one is not proved, or ends in any other way.
"""
import argparse, collections, concurrent.futures, glob, os, subprocess, sys, tempfile


def networks(shared):
    for corpus in ("caffe", "keras", "keras-variants", "keras1"):
        for folder in sorted(glob.glob(f"{shared}/corpus/{corpus}/*/")):
            names = ["deploy.prototxt", "model.caffemodel"] if corpus == "caffe" else ["model.h5"]
            files = [folder + name for name in names if os.path.exists(folder + name)]
            if files: yield corpus, files
    for path in sorted(glob.glob(f"{shared}/models/keras/dl4j/**/*.h5", recursive=True)):
        architecture = next((path.replace(a, b) for a, b in [("_weights.h5", ".json"), ("weights.h5", "config.json")]
                             if path.endswith(a) and os.path.exists(path.replace(a, b))), None)
        yield "dl4j", [architecture, path] if architecture else [path]


def proof(assay, files):
    with tempfile.TemporaryDirectory() as folder:
        try:
            result = subprocess.run([assay, "convert", *files, "-o", folder + "/m.mlmodel", "--prove", "--quiet"],
                                    capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            return "too slow", ""
    first = result.stdout.split("\n")[0]
    for verdict in ("not proved", "proved in part", "proved"):
        if first.startswith(verdict + ":"): return verdict, result.stdout.strip()
    return ("not converted" if result.returncode == 2 else f"exit code {result.returncode}"), result.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("shared")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    cases = list(networks(options.shared))[::options.every]
    counts = collections.defaultdict(collections.Counter)
    isRight = True
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda case: proof(options.assay, case[1]), cases)
        for (corpus, files), (verdict, text) in zip(cases, results):
            counts[corpus][verdict] += 1
            isExpected = verdict in ("proved", "proved in part", "not converted")
            isRight = isRight and isExpected
            if not isExpected or options.list and verdict != "proved":
                print(f"{verdict}: {' '.join(os.path.relpath(f, options.shared) for f in files)}")
                print("".join("  " + line + "\n" for line in text.split("\n")[:6]), end="", flush=True)
    for corpus, verdicts in counts.items():
        print(f"{corpus}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    sys.exit(0 if isRight else 1)


main()
