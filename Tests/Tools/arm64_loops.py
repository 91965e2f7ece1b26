"""Reads the disassembly of the kernels for arm64, with demangled names, from standard input. Prints
the inner loops that do most of the work and the share of the peak that they reach on some processors
if all loads hit the first cache. Fails if a loop keeps a value in memory that belongs in a register,
or if a kernel has fewer accumulators than the pipelines need.

A loop takes as many cycles as the busiest of these: its multiply-adds and other vector operations in
the vector pipes, its loads in the load pipes, all its instructions in the decoder, and the chain of
multiply-adds on one accumulator. The numbers are from Arm's software optimization guides for Neoverse
N1 and V1 and from Dougall Johnson's measurements of Firestorm, the large core of Apple's M1.
"""
import re
import sys

# Vector pipes, load pipes, instructions decoded per cycle, latency of a multiply-add.
PROCESSORS = {
    "Firestorm": (4, 3, 8, 4),
    "Neoverse N1": (2, 2, 4, 4),
    "Neoverse V1": (4, 3, 8, 4),
}

# Kernel, pattern of the function's name, multiply-adds of its largest loop, and whether all of them
# take one factor from a lane.
LOOPS = [
    *(
        (f"convolution, {rows} pixels", rf"<{rows}, 2, 1, \w+\.FloatTerms> of .*\(compute in", 2 * rows, True)
        for rows in (12, 11, 10, 9, 8)
    ),
    ("depthwise, 14 pixels", r"Table\.depthwiseConvolution", 14, False),
    *(
        (f"planar, {o} outputs", rf"<{o}, {v}> of .*\(planarRow in", o * v, False)
        for o, v in ((6, 4), (5, 4), (4, 6), (3, 6))
    ),
    *(
        (f"planar pairs, {o} outputs", rf"<{o}, 2> of .*\(planarPairTiles in", 4 * o, False)
        for o in (6, 5, 4)
    ),
    ("matrix, 4 rows × 2", r"^\w+\.\(denseRows in", 16, False),
    ("peak", r"Table\.multiplyAddLoop", 24, False),
]

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^\s+([0-9a-f]+):\s+(.*)$")
JUMP = re.compile(r"^(?:b|b\.\w+|cbn?z|tbn?z)\s.*?\b([0-9a-f]+) <")


def functions(lines):
    name, result = None, {}
    for line in lines:
        if match := FUNCTION.match(line):
            name = match[1]
            result[name] = []
        elif name and (match := INSTRUCTION.match(line)):
            result[name].append((int(match[1], 16), match[2].split("//")[0].strip()))
    return result


def inner_loops(code):
    """The instructions between a jump back and its target that hold no other such jump."""
    place = {address: index for index, (address, _) in enumerate(code)}
    loops = []
    for index, (_, text) in enumerate(code):
        match = JUMP.match(text)
        start = place.get(int(match[1], 16)) if match else None
        if start is not None and start <= index:
            loops.append((start, index))
    return [
        [text for _, text in code[start : end + 1]]
        for start, end in loops
        if not any((s, e) != (start, end) and start <= s and e <= end for s, e in loops)
    ]


def multiply_adds(loop):
    return [text for text in loop if text.startswith("fmla")]


def cycles(loop, processor):
    pipes, load_pipes, width, latency = PROCESSORS[processor]
    vector = loads = 0
    for text in loop:
        operation = text.split()[0]
        if re.match(r"ld1r|ld2r", operation):
            vector, loads = vector + 1, loads + 1
        elif operation in ("ldp", "ldnp"):
            loads += 2 if " q" in text else 1
        elif operation.startswith(("ld", "prfm")):
            loads += 1
        elif re.search(r"\bv\d+\.", text) and not operation.startswith("st"):
            vector += 1
    chain = {}
    for text in multiply_adds(loop):
        target = text.split()[1]
        chain[target] = chain.get(target, 0) + 1
    longest = max(chain.values(), default=0) * latency
    return max(vector / pipes, loads / load_pipes, len(loop) / width, longest)


def main():
    code = functions(sys.stdin)
    faults = []
    title = f"{'inner loop':24}{'instructions':>13}{'fmla':>6}{'loads':>7}"
    print(title + "".join(f"{name:>13}" for name in PROCESSORS))
    for kernel, pattern, expected, by_lane in LOOPS:
        loops = [
            loop
            for name, body in code.items()
            if re.search(pattern, name)
            for loop in inner_loops(body)
            if len(multiply_adds(loop)) == expected
        ]
        if not loops:
            faults.append(f"{kernel}: no loop of {expected} multiply-adds")
            continue
        loop = min(loops, key=len)
        sums = multiply_adds(loop)
        spills = [text for text in loop if re.search(r"\b[qdsv]\d+\b.*\[sp", text)]
        if spills:
            faults.append(f"{kernel}: keeps values in memory: {'; '.join(spills)}")
        if by_lane and not all(re.search(r"\.s\[\d\]$", text) for text in sums):
            faults.append(f"{kernel}: a multiply-add takes no factor from a lane")
        if len({text.split()[1] for text in sums}) != expected:
            faults.append(f"{kernel}: fewer than {expected} accumulators")
        loads = sum(text.startswith("ld") for text in loop)
        shares = [
            len(sums) / PROCESSORS[name][0] / cycles(loop, name) for name in PROCESSORS
        ]
        print(
            f"{kernel:24}{len(loop):13}{len(sums):6}{loads:7}"
            + "".join(f"{share:13.0%}" for share in shares)
        )
    for fault in faults:
        print(f"arm64: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
