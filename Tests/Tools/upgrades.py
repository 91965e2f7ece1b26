"""Upgrades every .mlmodel below some folders to an ML Program and compares what the two predict on random inputs.

    python3 Tests/Tools/upgrades.py .build/release/assay ../shared/models ../shared/seed [--precision float16]

Prints the largest difference of an output, divided by the output's largest value, or why there is no program.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

LIMITS = {"float32": 2e-5, "float16": 2e-2}


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr.strip()


def largest(output):
    """The largest value, from the root mean squared error and the ratio of the two in decibels."""
    return output["rmse"] * 10 ** (float(output["psnr"]) / 20) if output["rmse"] else 0


def main():
    words = sys.argv[1:]
    precision = "float32"
    if "--precision" in words:
        place = words.index("--precision")
        precision = words[place + 1]
        del words[place:place + 2]
    assay, failed = Path(words[0]).resolve(), 0
    for path in sorted(p for folder in words[1:] for p in Path(folder).rglob("*.mlmodel")):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/program.mlpackage"
            code, _, errors = call(assay, "upgrade", path, "-o", program, "--precision", precision)
            if code:
                print(f"refused  {path}  {errors.splitlines()[0]}", flush=True)
                continue
            code, text, errors = call(
                assay, "diff", path, program, "--json", "--rtol", "0", "--atol", "1e30")
            try:
                outputs = [o for run in json.loads(text)["runs"] for o in run["comparison"]["outputs"]]
                worst = max(o["largestAbsoluteError"] / max(1, largest(o)) for o in outputs)
            except (KeyError, ValueError):
                print(f"not run  {path}  {(errors or text)[:300]}", flush=True)
                continue
            agrees = worst <= LIMITS[precision]
            failed += not agrees
            print(f"{'agrees' if agrees else 'DIFFERS':9}{worst:.1e}  {path}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
