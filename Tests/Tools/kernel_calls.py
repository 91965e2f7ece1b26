#!/usr/bin/env python3
"""Writes the calls of an emulated table of kernels from `KernelTable` (Sources/KernelInterface).

    kernel_calls.py

`Tests/Emulation/Generated` has a call as a value and the table that sends it to the emulated
program; `Tests/Emulation/Guest/Generated` performs it there.
"""

import os
import re

os.chdir(os.path.join(os.path.dirname(__file__), "../.."))
source = open("Sources/KernelInterface/KernelTable.swift").read()
protocol = re.search(r"protocol KernelTable.*?\n}\n", source, re.S).group()
protocol = re.sub(r"\n *///.*", "", protocol)
constants = re.findall(r"static var (\w+): Int { get }", protocol)


def parameters(text):
    """Label (or None), name and type of each parameter."""
    depth, parts = 0, [""]
    for character in " ".join(text.split()):
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    result = []
    for part in parts:
        names, type_ = part.split(":", 1)
        label, name = (names.split() * 2)[:2]
        result.append((None if label == "_" else label, name, type_.strip()))
    return result


def labeled(label, text):
    return text if label is None else f"{label}: {text}"


cases, methods, performed, types = [], [], [], []
declaration = r"\n  static func (\w+)\(((?:[^()]|\([^()]*\))*)\)(?: -> (.+))?"
for name, text, result in re.findall(declaration, protocol):
    several = parameters(text)
    types += [type_ for _, _, type_ in several if type_.isalpha() and type_ not in types]
    values = ", ".join(labeled(label, type_) for label, _, type_ in several)
    passed = ", ".join(labeled(label, own) for label, own, _ in several)
    bound = ", ".join(f"let {own}" for _, own, _ in several)
    cases.append(f"  case {name}({values})")
    arrow, call = "", f"call(.{name}({passed}))"
    if result:
        arrow, call = f" -> {result}", f"{call}.load(as: ({result}).self)"
    signature = " ".join(text.split())
    methods.append(f"  package static func {name}({signature}){arrow} {{ {call} }}")
    run = f"Table.{name}({passed})"
    if result:
        run = f"answer.store({run})"
    performed.append(f"    case .{name}({bound}): {run}")

lines = "\n".join
sizes = lines(f"    MemoryLayout<{type_}>.size," for type_ in types)
calls = f"""import KernelInterface

/// A kernel call, as bytes with the same layout on both architectures; addresses are the caller's.
package enum KernelCall: @unchecked Sendable {{
{lines(cases)}
}}

/// The first output of the emulated program: the table's constants, and sizes that both sides share.
package struct EmulatedConstants: Sendable, Equatable {{
{lines(f"  package var {name} = 0" for name in constants)}
  package var callByteCount = MemoryLayout<KernelCall>.size
  package var argumentByteCounts = [
{sizes}
  ].reduce(0) {{ $0 &* 31 &+ $1 }}
}}
"""
table = f"""import KernelInterface

/// The arm64 kernels, run by an emulated program. Replaces the table of the baseline.
package enum Table: KernelTable {{
  @discardableResult
  private static func call(_ call: KernelCall) -> KernelAnswer {{ Emulator.shared.perform(call) }}

{lines(f"  package static var {name}: Int {{ Emulator.shared.constants.{name} }}" for name in constants)}

{lines(methods)}
}}
"""
guest = f"""import KernelInterface
import KernelsBaseline

extension EmulatedConstants {{
  /// The constants of the table here.
  static var own: EmulatedConstants {{
    var constants = EmulatedConstants()
{lines(f"    constants.{name} = Table.{name}" for name in constants)}
    return constants
  }}
}}

extension KernelCall {{
  func perform() -> KernelAnswer {{
    var answer = KernelAnswer()
    switch self {{
{lines(performed)}
    }}
    return answer
  }}
}}
"""
for folder, name, text in [
    ("Generated", "KernelCall.swift", calls),
    ("Generated", "EmulatedTable.swift", table),
    ("Guest/Generated", "KernelCall+Perform.swift", guest),
]:
    folder = f"Tests/Emulation/{folder}"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{name}"
    text = "// swift-format-ignore-file\n" + text
    # An unchanged file is not compiled again.
    if not os.path.exists(path) or open(path).read() != text:
        open(path, "w").write(text)
