#!/usr/bin/env python3
"""onnx_judge.py ASSAY FOLDER… — converts to ONNX, and compares what ONNX Runtime computes with the frameworks' values.

FOLDER is one of SHARED's: a corpus (corpus/keras and the others), corpus/programs, or a folder with models, whose files
are compared with NAME.expected.npz beside them, or with what ASSAY computes. Each file passes onnx.checker with full shape inference. Exits with 1 where a value
is wrong or a file is not valid. Needs onnx, onnxruntime and numpy.

  --only SUBSTRING   cases whose name contains it (repeatable)
  --jobs N           cases at a time (default 2)
  --arguments TEXT   further arguments of assay convert, such as "--opset 18"
  --keep FOLDER      where the .onnx files stay
"""
import argparse
import concurrent.futures
import glob
import json
import multiprocessing
import os
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

onnxruntime.set_default_logger_severity(3)
# Counted apart: models of features, layers that only their user could implement, and files without weights.
APART = ("has no formula", "is neither a network nor", "no model of the pipeline", "weight.bin' is missing")
MODELS = (".h5", ".hdf5", ".keras", ".caffemodel", ".mlmodel", ".mlpackage", ".weights")


def corpus_tools(folder):
    """The functions of SHARED/tools/run_corpus.py, which ends with its main program."""
    path = os.path.join(folder, "..", "..", "tools", "run_corpus.py")
    with open(path) as file:
        source = file.read().replace("sys.exit(main())", "")
    tools = {"__file__": path}
    exec(compile(source, path, "exec"), tools)
    tools["REFERENCE_NAMES"].append("--reference-names")
    return tools


def identifier(name):
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


class Network:
    """An .onnx file in ONNX Runtime, with arrays in the source's layouts."""

    def __init__(self, path):
        onnx.checker.check_model(path, full_check=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.metadata = self.session.get_modelmeta().custom_metadata_map

    def property(self, kind, name):
        return self.metadata.get(f"assay.{kind}.{name}")

    def letters(self, name):
        layout = self.property("layout", name) or ""
        return layout.split(":") if ":" in layout else None

    def given(self, name, array, value):
        """The array as the model takes it, one for each item of a batch."""
        image = self.property("image", name)
        if image:
            if array.ndim == 4 and array.shape[1:] == tuple(value.shape[1:]):
                return list(array[:, None])
            if array.ndim < 4 and image == "grayscale":
                array = array[..., None]
            if array.ndim == 3:
                array = array[None]
            if image == "bgr":
                array = array[..., ::-1]
            return [item[None] for item in array.transpose(0, 3, 1, 2)]
        letters = self.letters(name)
        if not letters:
            sizes = [size if isinstance(size, int) else None for size in value.shape]
            if array.ndim == len(sizes) + 1 and array.shape[0] == 1:
                array = array[0]
            elif array.ndim == len(sizes) + 1:
                return list(array)
            if None not in sizes and array.size == np.prod(sizes):
                array = array.reshape(sizes)
            return [array]
        source, own = letters
        if array.ndim == len(source) - 1 and "N" in source:
            array = np.expand_dims(array, source.index("N"))
        if array.ndim != len(source):
            raise ValueError(f"{name}: {array.shape} in the layout {source}")
        batch = source.index("N") if "N" in source else None
        items = [array] if batch is None else np.split(array, array.shape[batch], batch)
        return [self.relaid(item, source, own) for item in items]

    @staticmethod
    def relaid(array, source, target):
        """Axes in another order; those that the target lacks have length 1."""
        gone = [axis for axis, letter in enumerate(source) if letter not in target]
        array = array.squeeze(tuple(gone))
        source = [letter for letter in source if letter in target]
        array = array.transpose([source.index(letter) for letter in target if letter in source])
        for axis, letter in enumerate(target):
            if letter not in source:
                array = np.expand_dims(array, axis)
        return array

    def run(self, inputs):
        values = {value.name: value for value in self.session.get_inputs()}
        lists = {}
        for name, array in inputs.items():
            name = name.replace("__SLASH__", "/")
            name = name if name in values else identifier(name)
            if name in values:
                lists[name] = self.given(name, array, values[name])
        count = max([len(items) for items in lists.values()] or [1])
        isOpen = {name for name, value in values.items() if value.shape and value.shape[0] == "batch"}
        self.hasBatch = bool(isOpen) and set(lists) == isOpen and all(
            output.shape[0] == "batch" for output in self.session.get_outputs())
        types = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int32)": np.int32}
        answers = {}
        for index in range(count):
            feed = {
                name: np.ascontiguousarray(items[index if len(items) > 1 else 0], types[values[name].type])
                for name, items in lists.items()
            }
            names = [output.name for output in self.session.get_outputs()]
            results = self.session.run(names, feed)
            if self.hasBatch:
                # Beside another item, each has the same values.
                both = {name: np.concatenate([array, array[::-1, ..., ::-1] * array.dtype.type(0.5)])
                        for name, array in feed.items()}
                results = [array[:len(array) // 2] for array in self.session.run(names, both)]
            for name, array in zip(names, results):
                letters = self.letters(name)
                if self.property("image", name):
                    array = array[0].transpose(1, 2, 0)
                elif letters:
                    array = self.relaid(array, letters[1], letters[0])
                answers.setdefault(name, []).append((letters[0] if letters else "", array))
        return {name: self.joined(parts) for name, parts in answers.items()}

    @staticmethod
    def joined(parts):
        letters, first = parts[0]
        if len(parts) == 1:
            return first
        arrays = [array for _, array in parts]
        if "N" in letters:
            return np.concatenate(arrays, letters.index("N"))
        return np.stack(arrays)


def difference(expected, answers, rtol, atol):
    """What is wrong, or None, and the largest error as a fraction of the largest expected value."""
    worst = 0.0
    for name, array in expected.items():
        name = name.replace("__SLASH__", "/")
        own = answers.get(name, answers.get(identifier(name)))
        if own is None and len(answers) == 1 and array.dtype.kind == "f":
            # The scores of a classifier have the name of its dictionary.
            own = next(iter(answers.values()))
        if own is None:
            # The class of a classifier is no output.
            if len(answers) >= len(expected) - 1 and array.dtype.kind in "USOi":
                continue
            return f"no output {name} among {', '.join(answers)}", worst
        if own.size != array.size:
            return f"{name}: {own.shape} for {array.shape}", worst
        if own.shape != array.shape and [size for size in own.shape if size > 1] != [size for size in array.shape if size > 1]:
            return f"{name}: {own.shape} for {array.shape}", worst
        own = own.reshape(array.shape).astype(np.float64)
        array = array.astype(np.float64)
        big = float(np.abs(array[np.isfinite(array)]).max(initial=0))
        error = np.atleast_1d(np.abs(own - array))
        error[(own == array) | (np.isnan(own) & np.isnan(array))] = 0
        limit = np.atleast_1d(rtol * np.abs(array) + max(atol[0], atol[1] * big))
        limit[~np.isfinite(limit)] = 0
        if error.size:
            worst = max(worst, float(np.nan_to_num(error, nan=np.inf).max()) / max(big, 1e-30))
        if not (error <= limit).all():
            return f"{name}: off by {float(np.nanmax(error)):.3g}, largest value {big:.3g}", worst
    return None, worst


class Judge:
    def __init__(self, arguments):
        self.assay = os.path.abspath(arguments.assay)
        self.extra = shlex.split(arguments.arguments or "")
        self.keep = arguments.keep

    def convert(self, arguments, path):
        result = subprocess.run([self.assay, "convert", *arguments, *self.extra, "-o", path],
                                capture_output=True, text=True, errors="replace", timeout=300)
        if result.returncode:
            lines = [line for line in result.stderr.splitlines() if line.startswith("error:")]
            if result.returncode not in (2, 66) or not lines:
                return "broken", lines[0][7:] if lines else f"exit {result.returncode}"
            message = lines[0].removeprefix("error: ").replace(arguments[0] + ": ", "")
            # What no format of Core ML can hold either has no ONNX.
            plain = not arguments[0].endswith(("mlmodel", "mlpackage")) and subprocess.run(
                [self.assay, "convert", *arguments, "-o", path + ".mlmodel"], capture_output=True).returncode
            isApart = plain or any(word in message for word in APART)
            return "apart" if isApart else "refused", message
        return None

    def corpus_case(self, case, tools):
        with open(f"{case}/meta.json") as file:
            meta = json.load(file)
        options = meta.get("convert_kwargs") or {}
        with tempfile.TemporaryDirectory() as scratch:
            path = self.path(case, scratch)
            failure = self.convert(tools["convert_arguments"](case, meta, scratch), path)
            if failure:
                return failure
            if not os.path.exists(f"{case}/expected.npz"):
                return self.valid(path)
            half = options.get("model_precision") == "float16"
            tolerance = (1e-2, (1e-2, 1e-2)) if half else (1e-4, (1e-5, 5e-5))
            return self.compared(path, f"{case}/inputs.npz", f"{case}/expected.npz", tolerance)

    def program_case(self, case, _):
        with open(f"{case}/case.json") as file:
            meta = json.load(file)
        with tempfile.TemporaryDirectory() as scratch:
            path = self.path(case, scratch)
            failure = self.convert([f"{case}/model.mlpackage"], path)
            if failure:
                return failure
            if not meta.get("tolerance"):
                # The stored values are of other weights.
                return self.against_assay(path, [f"{case}/model.mlpackage"], scratch, f"{case}/inputs.npz")
            tolerance = (meta["tolerance"], (meta["tolerance"], meta["tolerance"]))
            return self.compared(path, f"{case}/inputs.npz", f"{case}/expected.npz", tolerance, meta.get("calls", 1))

    def model_case(self, case, _):
        files = [case]
        if case.endswith(".caffemodel"):
            folder = os.path.dirname(case)
            texts = sorted(glob.glob(f"{folder}/*.prototxt"))
            stem = os.path.basename(case).split(".")[0]
            own = [text for text in texts if os.path.basename(text).startswith(stem)] or texts
            files = own[:1] + files
        with tempfile.TemporaryDirectory() as scratch:
            path = self.path(case, scratch)
            failure = self.convert(files, path)
            stem = os.path.splitext(case)[0]
            if not failure and case.endswith(".mlpackage") and os.path.exists(stem + ".expected.npz"):
                return self.compared(path, stem + ".inputs.npz", stem + ".expected.npz", (1e-3, (1e-4, 1e-3)))
            if not failure and os.path.exists(os.path.join(os.path.dirname(case), "expected.npy")):
                return self.compared_arrays(path, os.path.dirname(case), scratch)
            return failure or self.against_assay(path, files, scratch)

    def compared_arrays(self, path, folder, scratch):
        """Of a network with one input and one output, as SHARED/peers makes them."""
        session = Network(path).session
        for file, value in ("input", session.get_inputs()[0]), ("expected", session.get_outputs()[0]):
            np.savez(f"{scratch}/{file}.npz", **{value.name: np.load(f"{folder}/{file}.npy")})
        return self.compared(path, f"{scratch}/input.npz", f"{scratch}/expected.npz", (1e-3, (1e-5, 1e-4)))

    def against_assay(self, path, files, scratch, inputs=None):
        network = Network(path)
        if inputs is None:
            generator = np.random.default_rng(0)
            arrays = {}
            for value in network.session.get_inputs():
                shape = [size if isinstance(size, int) else 16 for size in value.shape]
                if network.property("image", value.name):
                    return self.valid(path)
                array = generator.random(shape, dtype=np.float32)
                letters = network.letters(value.name)
                arrays[value.name] = network.relaid(array, letters[1], letters[0]) if letters else array
            inputs = os.path.join(scratch, "inputs.npz")
            np.savez(inputs, **arrays)
        answers = os.path.join(scratch, "expected.npz")
        result = subprocess.run([self.assay, "run", *files, inputs, "-o", answers], capture_output=True, text=True,
                                timeout=300)
        if result.returncode:
            return "valid", "not run: " + (result.stderr.splitlines() or ["?"])[0]
        return self.compared(path, inputs, answers, (1e-3, (1e-4, 1e-3)))

    def valid(self, path):
        Network(path)
        return "valid", ""

    def compared(self, path, inputs, expected, tolerance, calls=1):
        network = Network(path)
        arrays = dict(np.load(inputs, allow_pickle=True))
        for _ in range(calls):
            answers = network.run(arrays)
            arrays.update({name[:-5]: array for name, array in answers.items() if name.endswith("_next")})
        wrong, worst = difference(dict(np.load(expected, allow_pickle=True)), answers, *tolerance)
        return ("wrong", wrong, worst) if wrong else ("match", "", worst, network.hasBatch)

    def path(self, case, scratch):
        if not self.keep:
            return os.path.join(scratch, "model.onnx")
        return os.path.join(self.keep, "__".join(case.strip("/").split("/")[-2:]) + ".onnx")

    def judge(self, kind, case, tools):
        """In a process of its own, since the runtime may crash."""
        def run(sender):
            try:
                sender.send(kind(case, tools))
            except Exception as error:  # Any failure of the checker or the runtime is the file's.
                sender.send(("invalid", " ".join(f"{type(error).__name__}: {error}".split())[:400]))

        receiver, sender = multiprocessing.Pipe(False)
        process = multiprocessing.get_context("fork").Process(target=run, args=(sender,))
        process.start()
        sender.close()
        try:
            return receiver.recv()
        except EOFError:
            return "invalid", "the checker or the runtime crashed"
        finally:
            process.join()


def cases(judge, folder):
    folder = os.path.abspath(folder)
    names = sorted(os.listdir(folder))
    if any(os.path.exists(f"{folder}/{name}/meta.json") for name in names):
        tools = corpus_tools(folder)
        return [(judge.corpus_case, f"{folder}/{name}", tools) for name in names
                if os.path.exists(f"{folder}/{name}/meta.json")]
    if any(os.path.exists(f"{folder}/{name}/case.json") for name in names):
        return [(judge.program_case, f"{folder}/{name}", None) for name in names]
    return [(judge.model_case, path, None) for path in sorted(glob.glob(f"{folder}/**", recursive=True))
            if path.endswith(MODELS) and "inputs_and_outputs" not in path and ".mlpackage/" not in path]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--arguments")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    judge = Judge(arguments)
    work = [entry for folder in arguments.folder for entry in cases(judge, folder)
            if not arguments.only or any(part in entry[1] for part in arguments.only)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda entry: judge.judge(*entry), work))
    counts, errors, batches = {}, [], 0
    for (_, case, _), (kind, why, *worst) in zip(work, results):
        name = "/".join(case.split("/")[-2:])
        counts[kind] = counts.get(kind, 0) + 1
        if kind not in ("match", "valid"):
            print(f"{kind:8} {name}  {why}")
        if worst:
            errors.append((worst[0], name))
        batches += worst[1:] == [True]
    print("largest errors, as fractions of the largest value:")
    for error, name in sorted(errors, reverse=True)[:10]:
        print(f"  {error:.2e}  {name}")
    kinds = ("match", "valid", "wrong", "invalid", "broken", "refused", "apart")
    print(f"batches of any number of items: {batches} of {counts.get('match', 0)}")
    total = max(1, len(work) - counts.get("apart", 0))
    print(f"{len(work)} files: " + ", ".join(f"{counts.get(kind, 0)} {kind}" for kind in kinds)
          + f"; {100 * counts.get('refused', 0) / total:.1f} % refused")
    return 1 if any(counts.get(kind) for kind in ("wrong", "invalid", "broken")) else 0


if __name__ == "__main__":
    sys.exit(main())
