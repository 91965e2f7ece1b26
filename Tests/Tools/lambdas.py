"""What every Lambda of Keras files is read as.

    python3 Tests/Tools/lambdas.py ASSAY FILE|FOLDER...

Prints a line for each distinct Lambda: its formula, or why it is none. Where an `expected.npz` and an
`inputs.npz` stand beside a `.h5`, the file is converted with `--lambda auto` and compared.
Needs h5py. Exit code 1 where a comparison fails.
"""
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import h5py


def configuration(path):
    try:
        if path.endswith((".h5", ".hdf5")):
            with h5py.File(path, "r") as file:
                text = file.attrs.get("model_config")
        elif path.endswith(".keras"):
            text = zipfile.ZipFile(path).read("config.json")
        else:
            return None
        return json.loads(text) if text is not None else None
    except Exception:
        return None


def lambdas(value):
    if isinstance(value, dict):
        if value.get("class_name") == "Lambda" and isinstance(value.get("config"), dict):
            yield value["config"]
        for inner in value.values():
            yield from lambdas(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from lambdas(inner)


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def files(roots):
    for root in roots:
        if os.path.isfile(root):
            yield root
        for folder, _, names in sorted(os.walk(root)):
            for name in sorted(names):
                yield os.path.join(folder, name)


def report(binary, path, found):
    """What a model of each Lambda alone is converted to."""
    for config in found:
        config = dict(config, batch_input_shape=[None, 8, 9, 3])
        model = {"class_name": "Sequential", "config": [{"class_name": "Lambda", "config": config}],
                 "keras_version": "2.2.4", "backend": "tensorflow"}
        with tempfile.TemporaryDirectory() as folder:
            network = os.path.join(folder, "lambda.h5")
            with h5py.File(network, "w") as file:
                file.attrs["model_config"] = json.dumps(model)
                file.attrs["keras_version"] = "2.2.4"
                file.attrs["backend"] = "tensorflow"
                group = file.create_group("model_weights")
                group.attrs["layer_names"] = []
            answer = run(binary, "convert", network, "--lambda", "auto", "--dry-run")
            lines = answer.stdout.splitlines() + answer.stderr.splitlines()
            yield next((line.strip() for line in lines if "Lambda" in line), "?")


def compare(binary, path):
    folder = os.path.dirname(path)
    inputs, expected = (os.path.join(folder, name) for name in ("inputs.npz", "expected.npz"))
    if not (os.path.exists(inputs) and os.path.exists(expected)):
        return None
    with tempfile.TemporaryDirectory() as target:
        model = os.path.join(target, "m.mlmodel")
        answer = run(binary, "convert", path, "--lambda", "auto", "-o", model)
        if answer.returncode == 0:
            answer = run(binary, "diff", model, inputs, "--expected", expected)
        return answer.returncode == 0


def main(binary, roots):
    seen, failed = set(), False
    for path in files(roots):
        found = list(lambdas(configuration(path)))
        if not found:
            continue
        fresh = []
        for config in found:
            key = json.dumps([config.get("function"), config.get("arguments")], sort_keys=True)
            if key not in seen:
                seen.add(key)
                fresh.append(config)
        for config, line in zip(fresh, report(binary, path, fresh)):
            print(f"{path}: {config.get('name')}: {line}")
        verdict = compare(binary, path)
        if verdict is not None:
            print(f"{path}: " + ("matches" if verdict else "DIFFERS"))
            failed |= not verdict
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
