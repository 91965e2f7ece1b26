#!/usr/bin/env python3
"""Compares what coremltools and assay read from each other's compressed files.

    quantized.py ASSAY FOLDER

Makes networks with every kind of layer that coremltools quantizes and compresses them with coremltools
in every mode and width, and with `assay compress` likewise. Of each file every weight must be the same
number as coremltools' own dequantization gives and as `assay compress --precision float32` gives, bit
for bit, and `assay run` must answer as it does for the expanded file. Prints the counts; exits with 1
where something differs. Needs coremltools, numpy and scikit-learn.
"""
import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections import Counter

import coremltools as ct
import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder, quantization_utils

warnings.filterwarnings("ignore", message="Number of distinct clusters")
rng = np.random.default_rng(11)


def values(*shape):
    return rng.normal(size=shape).astype(np.float32)


def pictures():
    """Convolution with and without groups, deconvolution, normalization, scale, bias, inner product and
    constant."""
    b = NeuralNetworkBuilder([("in", datatypes.Array(4, 6, 5))], [("out", datatypes.Array(7))])
    b.add_convolution("convolution", 4, 6, 3, 2, 1, 1, "same", 1, W=values(3, 2, 4, 6), b=values(6),
                      has_bias=True, input_name="in", output_name="a")
    b.add_convolution("grouped", 3, 4, 3, 3, 1, 1, "same", 2, W=values(3, 3, 3, 4), b=None,
                      has_bias=False, input_name="a", output_name="b")
    b.add_convolution("deconvolution", 4, 6, 2, 2, 2, 2, "valid", 2, W=values(2, 2, 4, 3),
                      b=values(6), has_bias=True, is_deconv=True, input_name="b", output_name="c")
    # Between, since coremltools 9.0 cannot fold a batch normalization into a convolution.
    b.add_activation("activation", "TANH", "c", "c2")
    b.add_batchnorm("batchnorm", 6, values(6), values(6), values(6), np.abs(values(6)) + 1,
                    input_name="c2", output_name="d")
    b.add_activation("activation2", "TANH", "d", "d2")
    b.add_scale("scale", values(6), values(6), True, "d2", "e", shape_scale=[6], shape_bias=[6])
    b.add_bias("bias", values(6), "e", "f", shape_bias=[6])
    b.add_load_constant("constant", "k", values(6 * 12 * 10), [6, 12, 10])
    b.add_elementwise("sum", ["f", "k"], "g", "ADD")
    b.add_flatten("flatten", 0, "g", "h")
    b.add_inner_product("innerProduct", values(7, 720), values(7), 720, 7, True, "h", "out")
    return b.spec, {"in": values(4, 6, 5)}


def sequences():
    """Embedding and the four recurrent layers."""
    states = [("h1", 5), ("h2", 6), ("h3", 4), ("c3", 4), ("h4", 3), ("c4", 3), ("h5", 3), ("c5", 3)]
    b = NeuralNetworkBuilder(
        [("in", datatypes.Array(1))] + [(name, datatypes.Array(size)) for name, size in states],
        [("out", datatypes.Array(6))])
    b.add_embedding("embedding", values(7, 9), values(7), 9, 7, True, "in", "a")
    b.add_simple_rnn("simpleRecurrent", values(5, 5), values(5, 7), values(5), 5, 7, "TANH", ["a", "h1"],
                     ["b", "h1out"], output_all=True)
    b.add_gru("gru", [values(6, 6) for _ in range(3)], [values(6, 5) for _ in range(3)],
              [values(6) for _ in range(3)], 6, 5, ["b", "h2"], ["c", "h2out"], output_all=True)
    b.add_unilstm("uniDirectionalLSTM", [values(4, 4) for _ in range(4)],
                  [values(4, 6) for _ in range(4)], [values(4) for _ in range(4)], 4, 6,
                  ["c", "h3", "c3"], ["d", "h3out", "c3out"], peep=[values(4) for _ in range(3)],
                  output_all=True)
    b.add_bidirlstm("biDirectionalLSTM", [values(3, 3) for _ in range(4)],
                    [values(3, 4) for _ in range(4)], [values(3) for _ in range(4)],
                    [values(3, 3) for _ in range(4)], [values(3, 4) for _ in range(4)],
                    [values(3) for _ in range(4)], 3, 4, ["d", "h4", "c4", "h5", "c5"],
                    ["out", "h4out", "c4out", "h5out", "c5out"],
                    peep=[values(3) for _ in range(3)], peep_back=[values(3) for _ in range(3)],
                    output_all=True)
    return b.spec, {"in": np.array([[3.0]], np.float32).reshape(1),
                    **{name: values(size) for name, size in states}}


def arrays():
    """The layers of arrays of any rank."""
    b = NeuralNetworkBuilder([("in", datatypes.Array(4, 1))], [("out", datatypes.Array(4, 6))],
                             disable_rank5_shape_mapping=True)
    b.add_embedding_nd("embeddingND", "in", "a", 9, 5, values(5, 9), values(5))
    b.add_batched_mat_mul("batchedMatmul", ["a"], "b", weight_matrix_rows=5, weight_matrix_columns=6,
                          W=values(5, 6), bias=values(6))
    b.add_load_constant_nd("constant", "k", values(4, 6), [4, 6])
    b.add_add_broadcastable("sum", ["b", "k"], "out")
    return b.spec, {"in": np.array([[0], [3], [8], [3]], np.float32)}


def weights(message, path=""):
    """All weights in a message, each with a path of its own."""
    if message.DESCRIPTOR.name == "WeightParams":
        yield path, message
        return
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for index, part in enumerate(value if field.is_repeated else [value]):
            name = part.name if field.name == "layers" else f"{field.name}{index or ''}"
            yield from weights(part, f"{path}/{name}")


def layer_weights(spec):
    return [(path.removeprefix("/layers/").lstrip("/"), value)
            for path, value in weights(spec.neuralNetwork)]


def numbers(value):
    if value.float16Value:
        return np.frombuffer(value.float16Value, np.float16).astype(np.float32)
    return np.array(value.floatValue, np.float32)


def table(bits, array):
    half = 1 << bits - 1
    entries = np.concatenate([-(2.0 ** -np.arange(half)), 2.0 ** -np.arange(half)])
    codes = np.argmin(np.abs(np.ravel(array)[:, None] - entries[None, :]), axis=1)
    return entries, codes.astype(np.uint8)


def kmeans(bits, array):
    """What coremltools 9.0 computes for kmeans_lut, but cannot write with a current numpy."""
    entries, codes = quantization_utils._get_kmeans_lookup_table_and_weight(bits, array)
    return np.ravel(entries), np.ravel(codes).astype(np.uint8)


def quietly(function, *arguments, **options):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*arguments, **options)


def dequantized(spec):
    """By coremltools."""
    model = ct.models.MLModel(spec, skip_model_load=True)
    result = quietly(quantization_utils.quantize_weights, model, None, "dequantization")
    return result.get_spec()


def main():
    assay, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    # coremltools has linear_symmetric with 8 bits only, ours with all.
    theirs = [("float", 16), ("linear_symmetric", 8)]
    theirs += [(mode, bits) for mode in ("linear", "linear_lut", "kmeans_lut", "custom_lut")
               for bits in range(1, 9)]
    ours = [("float", 16)] + [(mode, bits) for mode in (
        "linear", "linear_symmetric", "linear_lut", "kmeans_lut", "custom_lut")
        for bits in range(1, 9)]
    counts, kinds, faults = Counter(), Counter(), []

    def run(*arguments):
        result = subprocess.run([assay, *arguments], capture_output=True, text=True)
        if result.returncode:
            faults.append(f"assay {' '.join(arguments)}: {result.stderr.strip()}")
        return result.returncode == 0

    def compare(name, path, inputs):
        spec = ct.utils.load_spec(path)
        expanded = f"{folder}/expanded.mlmodel"
        if not run("compress", path, "-o", expanded, "--precision", "float32", "--no-fold", "--quiet"):
            return
        stored = layer_weights(spec)
        read = dict(layer_weights(ct.utils.load_spec(expanded)))
        reference = dict(layer_weights(spec if "float" in name else dequantized(spec)))
        for place, value in stored:
            if value.floatValue:
                continue
            same = np.array_equal(numbers(read[place]), numbers(reference[place]))
            counts["weights"] += 1
            kinds[place] += 1
            if not same:
                faults.append(f"{name}: {place} differs")
        feeds = [f"{key}={folder}/{key}.npy" for key in inputs]
        answers = []
        for model in (path, expanded):
            if not run("run", model, *feeds, "-o", f"{folder}/out.npz", "--quiet"):
                return
            with np.load(f"{folder}/out.npz") as arrays_:
                answers.append({key: arrays_[key] for key in arrays_.files})
        counts["files"] += 1
        for key, first in answers[0].items():
            second = answers[1][key]
            scale = np.abs(second).max() or 1
            counts["outputs"] += 1
            counts["outputs equal to the bit"] += np.array_equal(first, second)
            if not np.allclose(first, second, rtol=0, atol=2e-6 * scale):
                faults.append(f"{name}: output {key} differs by {np.abs(first - second).max()}")

    for make in (pictures, sequences, arrays):
        spec, inputs = make()
        source = f"{folder}/{make.__name__}.mlmodel"
        ct.utils.save_spec(spec, source)
        for key, value in inputs.items():
            np.save(f"{folder}/{key}.npy", value)
        path = f"{folder}/compressed.mlmodel"
        for mode, bits in theirs:
            functions = {"custom_lut": table, "kmeans_lut": kmeans}
            options = {"lut_function": functions[mode]} if mode in functions else {}
            result = quietly(
                quantization_utils.quantize_weights,
                ct.models.MLModel(ct.utils.load_spec(source), skip_model_load=True), bits,
                "linear" if mode == "float" else "custom_lut" if mode in functions else mode, **options)
            ct.utils.save_spec(result.get_spec() if hasattr(result, "get_spec") else result, path)
            compare(f"coremltools {make.__name__} {mode} {bits}", path, inputs)
        for mode, bits in ours:
            if mode == "float":
                options = ["--precision", "float16"]
            elif mode == "custom_lut":
                np.save(f"{folder}/table.npy", table(bits, np.zeros(1))[0].astype(np.float32))
                options = ["--mode", f"{folder}/table.npy"]
            else:
                options = ["--bits", str(bits), "--mode", mode]
            if run("compress", source, "-o", path, *options, "--no-fold", "--quiet"):
                compare(f"assay {make.__name__} {mode} {bits}", path, inputs)
    for kind, count in sorted(kinds.items()):
        print(f"  {kind:60} {count}")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    print(f"{len(faults)} differences")
    for fault in faults[:40]:
        print("  " + fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
