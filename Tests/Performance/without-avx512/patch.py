"""Copies of the rivals' libraries in which answer_cpuid.c answers instead of the processor."""
import glob
import os
import re
import struct
import subprocess

# The libraries of each engine of the peers' benchmark, below the packages of its environment.
LIBRARIES = {"litert": ["ai_edge_litert/*.so*"], "ort": ["onnxruntime/**/*.so*"],
             "openvino": ["openvino/**/*.so*"], "ncnn": ["ncnn/**/*.so*", "ncnn.libs/*.so*"],
             "mnn": ["_mnncengine*.so*", "mnn.libs/*.so*"]}
# What runs on no CPU.
OTHER_DEVICES = re.compile(r"gpu|npu|vendors", re.IGNORECASE)
CPUID, UNDEFINED = b"\x0f\xa2", b"\x27\x2f"


def copies(environment, engine, folder):
    """A patched copy below `folder` for each of an engine's libraries with a cpuid, by its real path."""
    found = {}
    for packages in glob.glob(f"{environment}/lib/python*/site-packages"):
        for pattern in LIBRARIES[engine]:
            for name in glob.glob(pattern, root_dir=packages, recursive=True):
                if not OTHER_DEVICES.search(name):
                    found[os.path.realpath(f"{packages}/{name}")] = f"{folder}/{name.replace('/', '+')}"
    return {path: copy for path, copy in sorted(found.items()) if patch(path, copy)}


def segments(data):
    """(address, offset, size) of each part of a 64-bit ELF file that is loaded."""
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + index * size) for index in range(count)]
    return [(address, start, length) for kind, _, start, address, _, length in headers if kind == 1]


def cpuid_addresses(path):
    """Where the disassembly has the instruction; the two bytes alone may be part of another."""
    disassembly = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE)
    lines = subprocess.run(["grep", "-w", "cpuid"], stdin=disassembly.stdout, stdout=subprocess.PIPE, text=True)
    if disassembly.wait():
        raise SystemExit(f"error: objdump cannot read {path}")
    return [int(line.split(":")[0], 16) for line in lines.stdout.splitlines()]


def patch(path, copy):
    """Writes the copy of a library, and says whether there was a cpuid to replace.

    A copy has its original's date, and is made again where that has changed; an empty one remembers
    that those two bytes are no instruction there.
    """
    status = os.stat(path)
    if os.path.exists(copy) and os.stat(copy).st_mtime_ns == status.st_mtime_ns:
        return os.stat(copy).st_size > 0
    data = bytearray(open(path, "rb").read())
    if CPUID not in data:
        return False
    parts = segments(data)
    addresses = cpuid_addresses(path)
    for address in addresses:
        start = next(offset + address - first for first, offset, size in parts if first <= address < first + size)
        assert data[start:start + 2] == CPUID, f"{path}: no cpuid at {address:#x}"
        data[start:start + 2] = UNDEFINED
    with open(copy, "wb") as file:
        file.write(data if addresses else b"")
    os.chmod(copy, status.st_mode)
    os.utime(copy, ns=(status.st_mtime_ns, status.st_mtime_ns))
    return len(addresses) > 0
