#!/usr/bin/env python3
"""Compares `assay compress --mode kmeans_lut` with scikit-learn's best of ten starts.

    kmeans.py ASSAY FOLDER [MODEL.mlmodel …]

Makes models with one matrix of synthetic weights, takes all weights of the models given besides,
compresses each to tables of 2, 4, 16, 64 and 256 values, reads the result with coremltools and
compares the squared error of each weight. A second run must give the same bytes. Prints a line for
each model and size: how many weights, the least and largest quotient of ours and theirs. Exits with 1
where ours is larger. At last it times 256 entries for 25 million weights on one thread. Needs
coremltools, numpy and scikit-learn.
"""
import os
import subprocess
import sys
import time
import warnings

import coremltools as ct
import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder
from sklearn.cluster import KMeans

from quantized import weights

warnings.filterwarnings("ignore", message="Number of distinct clusters")


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


def compressed(assay, path, bits, folder):
    out = f"{folder}/compressed.mlmodel"
    subprocess.run(
        [assay, "compress", path, "-o", out, "--bits", str(bits), "--mode", "kmeans_lut", "--quiet",
         "--no-fold", "--threads", "1"], check=True)
    return out


def network(spec):
    kind = spec.WhichOneof("Type")
    return getattr(spec, kind)


def squared(found, values):
    return float(np.sum((found - values) ** 2))


def synthetic():
    rng = np.random.default_rng(0)
    yield "normal", rng.normal(size=(60, 500))
    yield "normal, large", rng.normal(size=(400, 500))
    yield "laplace", rng.laplace(size=(40, 400))
    yield "laplace, large", rng.laplace(size=(300, 400))
    yield "uniform", rng.uniform(-1, 1, size=(30, 300))
    yield "uniform, large", rng.uniform(-1, 1, size=(300, 500))
    yield "two heaps", np.concatenate([rng.normal(-3, 0.1, (20, 400)), rng.normal(2, 1, (20, 400))])
    yield "two heaps, large", np.concatenate(
        [rng.normal(-3, 0.1, (200, 400)), rng.normal(2, 1, (200, 400))])
    yield "outliers", rng.standard_t(2, size=(40, 400))
    yield "outliers, large", rng.standard_t(1.5, size=(400, 400))
    yield "few values", rng.integers(-20, 20, size=(20, 200)) / 7
    yield "duplicates", np.round(rng.normal(size=(400, 400)) * 40) / 40
    yield "mostly zero", rng.normal(size=(400, 400)) * (rng.uniform(size=(400, 400)) < 0.1)
    yield "far from zero", 1000 + rng.normal(size=(40, 400)) * 1e-2
    yield "tiny numbers", rng.normal(size=(40, 400)) * 1e-30
    yield "constant", np.full((20, 20), 0.3)
    yield "one value", np.full((1, 1), -2.5)
    yield "two values", np.array([[1.0, 2.0]])
    yield "three values", np.array([[1.0, 2.0, 4.0]])
    yield "seven values", np.array([[1.0, 2, 4, 8, 16, 32, 64]])
    yield "300 values", rng.normal(size=(3, 100))


def main():
    assay, folder, *models = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    jobs = []
    for name, values in synthetic():
        path = f"{folder}/{name.replace(' ', '_').replace(',', '')}.mlmodel"
        write(path, values.astype(np.float32))
        jobs.append((name, path))
    jobs += [("/".join(path.split("/")[-2:]), path) for path in models]
    total = worse = 0
    for name, path in jobs:
        before = dict(weights(network(ct.utils.load_spec(path))))
        for bits in (1, 2, 4, 6, 8):
            out = compressed(assay, path, bits, folder)
            with open(out, "rb") as file:
                first = file.read()
            with open(compressed(assay, path, bits, folder), "rb") as file:
                if file.read() != first:
                    sys.exit(f"{name}, {bits} bits: not the same bytes again")
            quotients = []
            for place, parameters in weights(network(ct.utils.load_spec(out))):
                table = np.array(parameters.quantization.lookupTableQuantization.floatValue)
                if len(table) == 0:
                    continue
                values = np.array(before[place].floatValue, np.float32).astype(np.float64)
                ours = squared(table[codes(parameters, len(values))], values)
                count = min(1 << bits, len(np.unique(values)))
                # Where the numbers lie does not matter to the clusters, but it does to what their
                # squares keep of them.
                scale = np.abs(values).max() or 1
                best = KMeans(count, n_init=10, random_state=0).fit(values[:, None] / scale)
                centers = (best.cluster_centers_[:, 0] * scale).astype(np.float32).astype(np.float64)
                theirs = squared(centers[best.labels_], values)
                noise = len(values) * (np.abs(values).max() * 2.0**-24) ** 2
                if ours > theirs * (1 + 1e-9) + noise * 1e-3:
                    worse += 1
                    print(f"WORSE: {name} {place} {bits} bits, {len(values)} values: "
                          f"{ours:.10g}, scikit-learn {theirs:.10g}", flush=True)
                if theirs > noise:
                    quotients.append(ours / theirs)
                total += 1
            text = (f"{min(quotients):.6f} to {max(quotients):.6f}" if quotients else "exact")
            print(f"{name:36} {bits} bits  {len(quotients):3} weights  ours : scikit-learn {text}",
                  flush=True)
    print(f"{total} weights, {worse} with a larger error than scikit-learn's")
    path = f"{folder}/large.mlmodel"
    write(path, np.random.default_rng(1).normal(size=(5000, 5000)).astype(np.float32))
    start = time.monotonic()
    compressed(assay, path, 8, folder)
    print(f"256 entries for 25 million weights: {time.monotonic() - start:.1f} s with all reading and writing")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
