"""Writes every network of the reference corpora as an ML Program, compares its predictions with the
framework's, and has coremltools read it, infer all types and shapes anew, and write it again.

    python3 -m venv venv && venv/bin/pip install coremltools==9.0 'numpy<2'
    venv/bin/python Tests/Tools/programs.py .build/release/assay ../shared
        [--target iOS15] [--precision float32] [--only WORD] [--jobs N]
        [--every N [--from I]] [--run-only] [--documents]

--every and --from take each Nth case from the Ith on; --run-only leaves coremltools out; --documents
makes the programs from .mlmodel files, and none may have more operations than the file has layers and
features if these normalize, or spell out an activation.

A case counts as
  match      the predictions agree, coremltools infers our shapes, and what it writes predicts the same
  wrong      the predictions differ from the framework's
  refused    not written, with a reason
  rejected   coremltools does not read it, infers other types, or writes what predicts something else
  longer     with --documents: the program has more operations than that
  skipped    as a network it does not convert either
"""
import argparse
import ast
import collections
import json
import logging
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

os.environ["TQDM_DISABLE"] = "1"
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

# What half precision costs: each result is rounded to 11 bits.
TOLERANCES = {"float32": (1e-4, 5e-5), "float16": (2e-2, 2e-2)}


def corpus_functions(shared):
    # Its functions and constants; the file itself starts to work when it is loaded.
    tree = ast.parse((shared / "tools/run_corpus.py").read_text())
    tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.FunctionDef, ast.Assign))]
    functions = {"__file__": str(shared / "tools/run_corpus.py")}
    exec(compile(tree, "run_corpus.py", "exec"), functions)
    return functions


def call(*words):
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              errors="replace", timeout=120)
    except subprocess.TimeoutExpired:
        return 124, "no answer in 120 s"
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    line = next((line for line in lines if "error:" in line), lines[-1] if lines else "")
    return done.returncode, line[-250:]


def lengths(assay, network, package):
    """The numbers of layers and of operations; no layers if none of them can be joined."""
    text = subprocess.run([assay, "inspect", network, "--json"], capture_output=True, text=True).stdout
    document = json.loads(text)
    layers = document["layers"]
    texts = [f"{layer['type']} {layer['attributes'].get('type', '')}" for layer in layers]
    joins = any(re.match("batchnorm|mvn|.*THRESHOLD|.*RSQRT", text) for text in texts)
    text = subprocess.run([assay, "inspect", package], capture_output=True, text=True).stdout
    rows = text.split("  operation")[-1].splitlines()[1:]
    counts = [int(row.split()[1].replace(",", "")) for row in rows if re.fullmatch(r" +\w+ +[\d,]+", row)]
    # An array of the interface may need one to become that of an operation.
    interface = len(document["inputs"]) + len(document["outputs"])
    return len(layers) if joins else 0, sum(counts) - interface


def stated_types(block, types):
    """The types that the file states, by the names of the values."""
    for operation in block.operations:
        for output in operation.outputs:
            types[output.name] = output.type
        for inner in operation.blocks:
            stated_types(inner, types)


def inferred_types(block, types):
    for operation in block.operations:
        for output in operation.outputs:
            types[output.name] = output
        for inner in operation.blocks:
            inferred_types(inner, types)


def rewritten(path, target):
    """Reads the package with coremltools and writes it again; returns the complaint."""
    import coremltools
    from coremltools.converters.mil.converter import mil_convert
    from coremltools.converters.mil.frontend.milproto.load import load
    from coremltools.converters.mil.mil import types

    model = coremltools.models.MLModel(str(path), skip_model_load=True)
    specification = model.get_spec()
    program = load(specification, specification.specificationVersion, model.weights_dir)
    stated, inferred = {}, {}
    for function in specification.mlProgram.functions.values():
        for block in function.block_specializations.values():
            stated_types(block, stated)
    for function in program.functions.values():
        inferred_types(function, inferred)
    for name, kind in stated.items():
        if kind.WhichOneof("type") != "tensorType" or name not in inferred:
            continue
        sizes = [size.constant.size if size.WhichOneof("dimension") == "constant" else None
                 for size in kind.tensorType.dimensions]
        variable = inferred[name]
        other = [size if isinstance(size, int) else None for size in map(
            lambda size: int(size) if str(size).isdigit() else size, variable.shape or ())]
        if sizes != other:
            return f"'{name}' is {sizes} here and {other} there"
        number = kind.tensorType.dataType
        own = coremltools.proto.MIL_pb2.DataType.Name(number).lower()
        names = {"float16": "fp16", "float32": "fp32", "float64": "fp64"}
        kind_there = types.builtin_to_string(variable.dtype)
        if names.get(own, own) != kind_there:
            return f"'{name}' is {own} here and {kind_there} there"
    written = mil_convert(
        program, convert_to="mlprogram", convert_from="milinternal",
        specification_version=specification.specificationVersion,
        compute_units=coremltools.ComputeUnit.CPU_ONLY, model_description=specification.description,
        skip_model_load=True)
    written.save(str(target))
    return None


def examine(work):
    case, arguments = work
    functions = corpus_functions(Path(arguments.shared))
    meta = json.loads((case / "meta.json").read_text())
    name = f"{case.parent.name}/{case.name}"
    with tempfile.TemporaryDirectory() as folder:
        options = functions["convert_arguments"](str(case), meta, folder)
        network, package = f"{folder}/network.mlmodel", f"{folder}/program.mlpackage"
        code, why = call(arguments.assay, "convert", *options, "-o", network)
        if code:
            return name, "skipped", why
        precision = [] if arguments.precision == "float32" else ["--weights-precision", "float16"]
        if arguments.documents:
            options = [network]
        code, why = call(
            arguments.assay, "convert", *options, *precision, "--target", arguments.target, "-o",
            package)
        if code:
            return name, "refused" if code == 2 else "wrong", why
        if arguments.documents:
            layers, operations = lengths(arguments.assay, network, package)
            if operations > layers > 0:
                return name, "longer", f"{layers} layers, {operations} operations"
        inputs, expected = case / "inputs.npz", case / "expected.npz"
        keywords = meta.get("convert_kwargs") or {}
        runs = inputs.exists() and expected.exists() and not (
            keywords.get("add_custom_layers") or keywords.get("custom_conversion_functions"))
        half = keywords.get("model_precision") == "float16"
        relative, absolute = TOLERANCES["float16" if half else arguments.precision]
        if runs:
            largest = max(1e-30, functions["largest"](str(expected)))
            code, why = call(
                arguments.assay, "diff", package, inputs, "--expected", expected, "--rtol", relative,
                "--atol", max(1e-5, absolute * largest))
            if code:
                return name, "refused" if code == 2 else "wrong", why
        if arguments.run_only:
            return name, "match", ""
        try:
            complaint = rewritten(package, f"{folder}/again.mlpackage")
        except Exception as error:  # Whatever coremltools says is the finding.
            complaint = f"{type(error).__name__}: {error}"
        if complaint:
            return name, "rejected", complaint[:300]
        if runs:
            code, why = call(
                arguments.assay, "diff", package, f"{folder}/again.mlpackage", inputs, "--rtol", 1e-4,
                "--atol", max(1e-5, 1e-6 * largest)
                if arguments.precision == "float32" and not half else absolute * largest)
            if code:
                return name, "rejected", f"written again: {why}"
    return name, "match", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay", type=lambda path: Path(path).resolve())
    parser.add_argument("shared", type=Path)
    parser.add_argument("--target", default="iOS15")
    parser.add_argument("--precision", default="float32", choices=list(TOLERANCES))
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--run-only", action="store_true")
    parser.add_argument("--documents", action="store_true")
    arguments = parser.parse_args()
    cases = [meta.parent for meta in sorted(arguments.shared.glob("corpus/*/*/meta.json"))
             if arguments.only in str(meta)][arguments.first::arguments.every]
    counts = collections.Counter()
    with multiprocessing.Pool(arguments.jobs) as pool:
        for name, result, why in pool.imap(examine, [(case, arguments) for case in cases]):
            counts[result] += 1
            if result not in ("match", "skipped"):
                print(f"{result:9}{name}  {why}", flush=True)
    print(f"{len(cases)} cases, {arguments.target}, {arguments.precision}: " + ", ".join(
        f"{counts[result]} {result}"
        for result in ("match", "wrong", "refused", "rejected", "longer", "skipped")))
    sys.exit(0 if counts["match"] + counts["skipped"] == len(cases) else 1)


if __name__ == "__main__":
    main()
