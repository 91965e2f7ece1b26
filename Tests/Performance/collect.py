#!/usr/bin/env python3
"""Writes RESULT/machine.json: what docs/performance.md needs beside the peers' samples.

    collect.py RESULT --models DIR --assay BINARY [--peak-source peak.c] [--threads 1,2]

The machine's processor, its peak with the instruction set of our kernels (ASSAY_KERNELS in the
environment chooses it) and its bandwidth; of each network its multiply-adds, its roofline, our error
against TensorFlow, the time of a whole process, and what its memory consists of. DIR/NETWORK holds
model.mlmodel, input.npy and expected.npy. Nothing but the standard library is needed.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
import time

NETWORKS = ["vgg16", "tinyyolo", "style", "resnet50", "inceptionv3", "squeezenet", "mobilenet", "toy"]


def output(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def json_lines(command):
    return [json.loads(line) for line in output(command).splitlines() if line.startswith("{")]


def processor():
    fields = {}
    for line in open("/proc/cpuinfo"):
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    return fields.get("model name", "unknown processor")


def bandwidth(source, cores):
    """GB/s of reading 256 MiB a thread, by the peers' own program, which is written for AVX2."""
    with tempfile.TemporaryDirectory() as folder:
        program = folder + "/peak"
        subprocess.run(["cc", "-O3", "-mavx2", "-mfma", "-pthread", source, "-o", program, "-lm"], check=True)
        text = output([program])
    found = re.findall(r"read BW +(\d+) KiB/thread: 1T ([\d.]+) GB/s +2T ([\d.]+)", text)
    _, one, two = max(found, key=lambda entry: int(entry[0]))
    return {"1": float(one), "2": float(two)}


def roofline(layers):
    """Multiply-adds that are needed at least, and bytes of weights that are read once each.

    Kernels of 3×3, or of several of them, with stride 1 count a quarter, by Winograd's F(4×4, 3×3),
    between 16 channels and more; everything else counts as it is.
    """
    needed = 0.0
    dense_bytes = 0
    for layer in layers:
        count = layer["multiplyAdds"]
        if not count:
            continue
        source, target = layer["inputShapes"][0], layer["outputShapes"][0]
        if layer["type"] == "innerProduct":
            dense_bytes += 4 * layer["parameters"]
            needed += count
            continue
        outputs = target[2] * target[3] * target[4]
        taps = round(count / (outputs * source[2]))
        is_square = round(taps**0.5) ** 2 == taps and round(taps**0.5) % 3 == 0
        has_unit_stride = target[3] > source[3] // 2 and target[4] > source[4] // 2
        has_channels = min(source[2], target[2]) >= 16
        is_quarter = taps > 1 and is_square and has_unit_stride and has_channels
        needed += count / 4 if is_quarter else count
    return needed, dense_bytes


def cold(assay, folder, threads, runs=7):
    """Milliseconds from start to first answer of a whole process, at best."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [assay, "run", folder + "/model.mlmodel", folder + "/input.npy",
                   "--threads", str(threads), "-q", "-o", scratch + "/answer.npy"]
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times.append((time.perf_counter() - start) * 1e3)
    return min(times)


def error(assay, folder):
    """The largest difference to TensorFlow's answer, relative to the largest value."""
    result = subprocess.run(
        [assay, "diff", folder + "/model.mlmodel", folder + "/input.npy", "--expected",
         folder + "/expected.npy", "--json"], stdout=subprocess.PIPE, text=True)
    comparison = json.loads(result.stdout)["outputs"][0]
    with open(folder + "/expected.npy", "rb") as file:
        header = file.read(10)
        assert header[:8] == b"\x93NUMPY\x01\x00", "expected.npy is not of version 1"
        file.seek(10 + int.from_bytes(header[8:10], "little"))
        import array
        values = array.array("f", file.read())
    return float(comparison["largestAbsoluteError"]) / max(abs(value) for value in values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--models", required=True)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--peak-source", help="the peers' peak.c, for the memory's bandwidth")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    options = parser.parse_args()
    threads = [int(count) for count in options.threads.split(",")]
    machine = {"processor": processor(), "cores": os.cpu_count(), "peak_gflops": {}, "networks": {}}
    machine["version"] = output([options.assay, "--version"]).strip()
    if options.peak_source:
        machine["bandwidth"] = bandwidth(options.peak_source, machine["cores"])
    for name in options.networks.split(","):
        folder = f"{options.models}/{name}"
        if not os.path.exists(folder + "/model.mlmodel"):
            continue
        inspection = json.loads(output([options.assay, "inspect", "--json", folder + "/model.mlmodel"]))
        needed, dense_bytes = roofline(inspection["layers"])
        entry = {"multiply_adds": inspection["multiplyAdds"], "needed_multiply_adds": needed,
                 "dense_weight_bytes": dense_bytes, "error": error(options.assay, folder),
                 "cold_ms": {}, "memory": {}}
        for count in threads:
            entry["cold_ms"][str(count)] = cold(options.assay, folder, count)
            lines = json_lines([options.assay, "bench", folder + "/model.mlmodel", "--inputs",
                                folder + "/input.npy", "--threads", str(count), "--runs", "3", "--steps",
                                "--json"])
            summary = lines[-1]
            machine["instruction_set"] = summary["instruction_set"]
            peak = machine["peak_gflops"]
            peak[str(count)] = max(peak.get(str(count), 0), summary["peak_gflops"])
            entry["memory"][str(count)] = {key: summary[key] for key in
                                           ("peak_memory_bytes", "packed_weight_bytes", "arena_bytes", "file_page_bytes")}
        machine["networks"][name] = entry
        print(name, json.dumps(entry))
    with open(options.result + "/machine.json", "w") as file:
        json.dump(machine, file, indent=1, sort_keys=True)
        file.write("\n")


main()
