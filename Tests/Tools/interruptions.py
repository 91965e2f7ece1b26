#!/usr/bin/env python3
"""Ends `assay` with signals at random moments while it writes a package.

    interruptions.py ASSAY MODEL [COUNT]

COUNT packages (200) are ended by SIGTERM or SIGINT: the package is old or new, and nothing is left.
COUNT more are ended by SIGKILL: the package is old or new, and the next run removes what was left.
Every other round starts without a package. Prints totals; exits with 1 if something was lost or left.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

assay, model = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
random.seed(1)


def content(folder):
    result = {}
    for path, _, files in os.walk(folder):
        result[os.path.relpath(path, folder)] = None
        for name in files:
            with open(os.path.join(path, name), "rb") as file:
                result[os.path.relpath(os.path.join(path, name), folder)] = file.read()
    return result


def start(folder, old):
    return subprocess.Popen(
        [assay, "edit", old, "-o", os.path.join(folder, "o.mlpackage"), "--metadata", "author=A", "--no-run"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        old = os.path.join(scratch, "old.mlpackage")
        subprocess.run([assay, "convert", model, "-o", old], check=True, capture_output=True)
        folder = os.path.join(scratch, "f")
        os.mkdir(folder)
        target = os.path.join(folder, "o.mlpackage")
        begin = time.time()
        start(folder, old).wait()
        duration = time.time() - begin
        whole, before = content(target), content(old)
        faults = 0
        for signals in [[signal.SIGTERM, signal.SIGINT], [signal.SIGKILL]]:
            ended = finished = replaced = leftovers = 0
            for number in range(count):
                shutil.rmtree(folder)
                os.mkdir(folder)
                has_old = number % 2 == 1
                if has_old:
                    shutil.copytree(old, target)
                process = start(folder, old)
                if number % 4 < 2:
                    time.sleep(random.uniform(0.3, 1.1) * duration)
                else:
                    # While it writes.
                    while process.poll() is None and os.listdir(folder) == ["o.mlpackage"] * has_old:
                        pass
                    time.sleep(random.uniform(0, 0.02))
                process.send_signal(random.choice(signals))
                code = process.wait()
                ended += code < 0
                finished += code == 0
                names = os.listdir(folder)
                hidden = [name for name in names if name != "o.mlpackage"]
                leftovers += len(hidden)
                now = content(target) if os.path.exists(target) else None
                allowed = [whole] if code == 0 else [whole, before if has_old else None]
                replaced += now == whole and code < 0
                if now not in allowed or hidden and signals[0] != signal.SIGKILL:
                    faults += 1
                    print(f"round {number}, {signals[0].name}: code {code}, {names}")
                if signals[0] == signal.SIGKILL and hidden:
                    start(folder, old).wait()
                    if os.listdir(folder) != ["o.mlpackage"] or content(target) != whole:
                        faults += 1
                        print(f"round {number}: the next run left {os.listdir(folder)}")
            names = " or ".join(signal.name for signal in signals)
            print(f"{count} writes and {names}: {ended} ended by it, {finished} complete before; "
                  f"{replaced} ended after the package was in place, {leftovers} leftovers")
        print(f"{faults} faults")
        return faults > 0


sys.exit(main())
