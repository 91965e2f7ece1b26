#!/usr/bin/env python3
"""Compares `assay compress --mode kmeans_lut` with scikit-learn's best of ten starts.

    kmeans.py ASSAY FOLDER [MODEL.mlmodel …]

Makes models with one matrix of random weights, takes the matrices and kernels of the models given
besides, compresses each, reads the result with coremltools and adds up the squared errors of both.
Exits with 1 where ours is larger. At last it times 256 entries for 25 million weights. Needs
coremltools, numpy and scikit-learn.
"""
import os
import subprocess
import sys
import time

import coremltools as ct
import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder
from sklearn.cluster import KMeans


def write(path, weights):
    rows, columns = weights.shape
    builder = NeuralNetworkBuilder(
        [("in", datatypes.Array(columns))], [("out", datatypes.Array(rows))])
    builder.add_inner_product("d", weights, None, columns, rows, False, "in", "out")
    ct.utils.save_spec(builder.spec, path)


def codes(parameters, count):
    bits = parameters.quantization.numberOfBits
    digits = np.unpackbits(np.frombuffer(parameters.rawValue, np.uint8))[: count * bits]
    return digits.reshape(count, bits) @ (1 << np.arange(bits)[::-1])


def compressed(assay, path, bits):
    out = path + ".compressed.mlmodel"
    subprocess.run(
        [assay, "compress", path, "-o", out, "--bits", str(bits), "--mode", "kmeans_lut", "--quiet",
         "--no-fold"], check=True)
    return ct.utils.load_spec(out)


def main():
    assay, folder, *models = sys.argv[1:]
    rng = np.random.default_rng(0)
    samples = {
        "normal": rng.normal(size=(60, 500)),
        "laplace": rng.laplace(size=(40, 400)),
        "uniform": rng.uniform(-1, 1, size=(30, 300)),
        "two heaps": np.concatenate([rng.normal(-3, 0.1, (20, 400)), rng.normal(2, 1, (20, 400))]),
        "outliers": rng.standard_t(2, size=(40, 400)),
        "few values": rng.integers(-20, 20, size=(20, 200)) / 7,
    }
    jobs = []
    for name, values in samples.items():
        path = f"{folder}/{name.replace(' ', '_')}.mlmodel"
        write(path, values.astype(np.float32))
        jobs.append((name, path))
    jobs += [(os.path.basename(path), path) for path in models]
    isGood = True
    for name, path in jobs:
        before = ct.utils.load_spec(path)
        for bits in (1, 2, 4, 6, 8):
            after = compressed(assay, path, bits)
            ours = theirs = 0.0
            for old, new in zip(before.neuralNetwork.layers, after.neuralNetwork.layers):
                kind = old.WhichOneof("layer")
                if kind not in ("innerProduct", "convolution"):
                    continue
                values = np.array(getattr(old, kind).weights.floatValue, np.float32)
                parameters = getattr(new, kind).weights
                table = np.array(parameters.quantization.lookupTableQuantization.floatValue)
                found = table[codes(parameters, len(values))]
                ours += np.sum((found - values.astype(np.float64)) ** 2)
                count = min(1 << bits, len(np.unique(values)))
                best = KMeans(count, n_init=10, random_state=0).fit(values[:, None])
                centres = best.cluster_centers_.astype(np.float32).astype(np.float64)[:, 0]
                theirs += np.sum((centres[best.labels_] - values.astype(np.float64)) ** 2)
            isWorse = ours > theirs * (1 + 1e-9) + 1e-12
            isGood &= not isWorse
            print(f"{name:30} {bits} bits  ours {ours:.8g}  scikit-learn {theirs:.8g}  "
                  f"{100 * ours / theirs if theirs else 100:.3f} %{'  WORSE' if isWorse else ''}", flush=True)
    path = f"{folder}/large.mlmodel"
    write(path, rng.normal(size=(5000, 5000)).astype(np.float32))
    start = time.monotonic()
    compressed(assay, path, 8)
    print(f"256 entries for 25 million weights: {time.monotonic() - start:.1f} s with all reading and writing")
    return 0 if isGood else 1


if __name__ == "__main__":
    sys.exit(main())
