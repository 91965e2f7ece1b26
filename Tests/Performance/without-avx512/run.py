#!/usr/bin/env python3
"""Runs a command in which the peers' engines see a processor without AVX-512.

    run.py [--engines litert,ort,…] [--model toy] PEERS COMMAND…

PEERS is the folder with worker.py; PEERS_ROOT in the environment the one with the models and the
virtual environment `venv`. The engines' libraries are copied to PEERS_ROOT/without-avx512 with every
cpuid instruction replaced by one that does not exist. A preloaded library answers there, and leaves
out AVX-512, AVX10, AMX and AVX-VNNI. In a mount namespace of the command's own the copies lie over
the originals: what is installed stays as it is. Needs Linux on x86-64, a C compiler, objdump, and the
right to mount (root's, or that of user namespaces).

Before the command each engine runs once. If none of its libraries asks for the features (leaf 7) in
the way that is answered here, it would be measured with AVX-512: then the command is not run.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import patch

HERE = os.path.dirname(os.path.abspath(__file__))
# The C library's own functions for memory and strings.
TUNABLES = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD"


def build(folder):
    """The library that answers."""
    library = folder + "/answer_cpuid.so"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-shared", "-fPIC",
                    HERE + "/answer_cpuid.c", "-o", library, "-ldl"], check=True)
    return library


def check(engine, libraries, model, peers, root):
    """Ends the program unless one of the engine's libraries was answered about the features."""
    with tempfile.TemporaryDirectory() as folder:
        log = folder + "/answers"
        worker = subprocess.run(
            [root + "/venv/bin/python", peers + "/worker.py", engine, model, "1"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ, ANSWERED_CPUID=log))
        lines = open(log).read().splitlines() if os.path.exists(log) else []
    if worker.returncode:
        sys.exit(f"error: {engine} does not run on {model}, status {worker.returncode}: {worker.stderr.strip()[-600:]}")
    answers = [(leaf, path) for leaf, _, path in (line.split(" ", 2) for line in lines)
               if os.path.realpath(path) in libraries]
    told = sorted({os.path.basename(path) for leaf, path in answers if leaf == "7"})
    if not told:
        sys.exit(f"error: {engine} would run with AVX-512: {len(answers)} of its questions were answered, "
                 "none of them about leaf 7")
    print(f"without AVX-512: {engine}, {len(answers)} answers to {', '.join(told)}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default=",".join(patch.LIBRARIES))
    parser.add_argument("--model", default="toy")
    parser.add_argument("--is-inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("peers")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    engines = options.engines.split(",")
    for engine in engines:
        if engine not in patch.LIBRARIES:
            sys.exit(f"error: patch.py knows no libraries of '{engine}', only of {', '.join(patch.LIBRARIES)}")
    if not options.is_inside:
        rights = [] if os.geteuid() == 0 else ["--map-root-user"]
        os.execvp("unshare", ["unshare", "--mount"] + rights + [
            sys.executable, __file__, "--is-inside"] + sys.argv[1:])
    root = os.environ["PEERS_ROOT"]
    folder = root + "/without-avx512"
    os.makedirs(folder, exist_ok=True)
    copies = {engine: patch.copies(root + "/venv", engine, folder) for engine in engines}
    os.environ["LD_PRELOAD"] = build(folder)
    os.environ["GLIBC_TUNABLES"] = TUNABLES
    for engine in engines:
        for original, copy in copies[engine].items():
            subprocess.run(["mount", "--bind", copy, original], check=True)
    for engine in engines:
        check(engine, copies[engine], options.model, options.peers, root)
    os.execvp(options.command[0], options.command)


main()
