"""Compares what half precision costs here with what it costs in PyTorch: for each program of the reference corpus
that computes in half precision, the network of the same weights runs in PyTorch in half precision.

    python3 -m venv venv && venv/bin/pip install torch coremltools==9.0 'numpy<2'
    venv/bin/python Tests/Tools/half_programs.py .build/release/assay ../shared

Errors are the largest of an output, divided by its largest value in single precision. A program passes if its error
is at most twice PyTorch's, or the spacing of half precision, 2⁻¹¹, which a single rounding costs.
"""
import copy
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SPACING = 2.0**-11


def load(path):
    spec = importlib.util.spec_from_file_location("make_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def network(torch, case, seed):
    """As `make` of make_programs.py makes it."""
    torch.manual_seed(seed)
    net = case["net"]().eval()
    with torch.no_grad():
        for part in net.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.running_mean.normal_(0, 0.3)
                part.running_var.uniform_(0.5, 2)
                part.weight.uniform_(0.5, 1.5)
                part.bias.normal_(0, 0.3)
    return net


def answers(torch, net, inputs, calls):
    with torch.no_grad():
        result = [net(*inputs) for _ in range(calls)][-1]
    return [a.float().numpy() for a in (result if isinstance(result, tuple) else (result,))]


def error(found, expected):
    return max(
        float(np.abs(f.reshape(e.shape) - e).max() / max(np.abs(e).max(), 1e-30))
        for f, e in zip(found, expected))


def predicted(assay, folder, inputs, names, calls):
    """What the program gives in half precision, the last of several calls that keep its states."""
    with tempfile.TemporaryDirectory() as scratch:
        path, output = f"{scratch}/inputs.npz", f"{scratch}/out" + (".npz" if calls == 1 else "")
        np.savez(path, **inputs)
        done = subprocess.run(
            [assay, "run", folder / "model.mlpackage", *[path] * calls, "-o", output,
             "--precision", "float16", *(["--carry-states"] if calls > 1 else [])],
            capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{folder.name}: {done.stderr}")
        if calls > 1:
            output = sorted(Path(output).rglob("*.np[yz]"))[-1]
        content = np.load(output)
        return [content[name] for name in names] if hasattr(content, "files") else [content]


def main():
    assay, shared = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    module = load(shared / "tools/make_programs.py")
    torch = module.torch
    failed = 0
    for folder in sorted((shared / "corpus/programs").iterdir()):
        meta = json.loads((folder / "case.json").read_text())
        case = module.CASES[folder.name]
        if meta["precision"] != "fp16" or case["tol"] is None or case.get("image"):
            continue
        with np.load(folder / "inputs.npz") as file:
            rounds = [{key: np.asarray(file[key], np.float32) for key in file}]
        with np.load(folder / "expected.npz") as file:
            names, expected = list(file), [file[key] for key in file]
        # The inputs of the case, and others.
        for seed in (100, 101, 102):
            drawn = case["inputs"](torch.Generator().manual_seed(seed))
            rounds.append({key: value.numpy() for key, value in drawn.items()})
        calls = meta.get("calls", 1)
        net = network(torch, case, meta["seed"])
        for place, inputs in enumerate(rounds):
            tensors = [torch.from_numpy(value) for value in inputs.values()]
            single = answers(torch, copy.deepcopy(net), tensors, calls)
            if place == 0 and error(single, expected) > 1e-5:
                sys.exit(f"{folder.name}: this is not the network of the case")
            half = answers(
                torch, copy.deepcopy(net).half(), [x.half() for x in tensors], calls)
            ours = error(predicted(assay, folder, inputs, names, calls), single)
            theirs = error(half, single)
            passes = ours <= max(2 * theirs, SPACING)
            failed += not passes
            print(
                f"{'passes' if passes else 'FAILS ':7}{folder.name:24} {ours:.2e} here, "
                f"{theirs:.2e} in PyTorch", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
