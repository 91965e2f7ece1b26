#!/usr/bin/env python3
"""Writes the tables of docs/performance.md and its plots.

    report.py RESULT… [--docs docs]

A RESULT is a folder of measure.sh, in any order. Those of one instruction set are pooled; each set
has a part of the page, the narrowest first. The same results give the same bytes. Nothing but the
standard library is needed.
"""
import argparse
import math
import os

from plot import plot
from results import ENGINES, NETWORKS, OURS, results
from text import mark, milliseconds, table, threads_text

# What a ratio to the fastest accurate rival shall be at most.
GOALS = {"vgg16": 0.60, "tinyyolo": 0.60, "style": 0.45, "resnet50": 0.85, "inceptionv3": 0.85,
         "squeezenet": 0.85, "mobilenet": 0.85, "toy": 0.40}
# Of a whole process to the fastest rival's; of those not named here to the rival's process less its start.
COLD_GOALS = {"toy": 1 / 3, "squeezenet": 1 / 3, "mobilenet": 1 / 3}
SCALING_GOALS = {"resnet50": 1.85, "tinyyolo": 1.85, "vgg16": 1.80}
LARGEST_OWN_ERROR = 5e-5
# Peak memory that is neither weights, arena nor pages of files.
LARGEST_REST_MB = 30
BEGIN, END = "<!-- begin of the tables that Tests/Performance/report.py writes -->", "<!-- end of the tables -->"


def machine_text(result):
    machine = result.machine

    def rates(name, unit, decimals=0):
        known = machine.get(name, {})
        return ", ".join(f"{known[str(count)]:.{decimals}f} {unit} on {threads_text(count)}"
                         for count in result.threads if str(count) in known)
    text = f"{machine['processor']}, {machine['cores']} cores. Peak: {rates('peak_gflops', 'GFLOP/s')}."
    if "bandwidth" in machine:
        text += f" From memory: {rates('bandwidth', 'GB/s')}."
    samples = sorted(result.counts.values())
    runs = "" if result.runs == 1 else f" in {result.runs} runs"
    return text + (f" {samples[0]} to {samples[-1]} samples per engine{runs}; the median sample takes "
                   f"{100 * result.spread:.0f}% longer than the shortest.\n")


def comparison(result, goal, ours, rival):
    """Our times beside a rival's: a row for each network, three columns for each number of threads.

    `goal` gives the largest ratio for a network; `ours` and `rival` the time, and the time and name,
    for a network and a number of threads.
    """
    rows, met, faster = [], [], []
    for network in result.networks:
        row = [NETWORKS[network], f"{goal(network):.2f}"]
        for threads in result.threads:
            time, best = ours(network, threads), rival(network, threads)
            if time is None or best is None:
                row += ["", "", ""]
                continue
            ratio = time / best[0]
            met.append(ratio <= goal(network))
            faster.append(ratio < 1)
            row += [milliseconds(time), f"{milliseconds(best[0])} {ENGINES[best[1]]}", mark(ratio, met[-1])]
        rows.append(row)
    header = ["network", "goal"]
    for threads in result.threads:
        header += [f"ours, ms, {threads_text(threads)}", "fastest rival, ms", "ratio"]
    return (f"{sum(met)} of {len(met)} ratios meet their goal, {sum(faster)} are below 1.\n\n"
            + table(header, rows))


def speed(result):
    return "### Against the fastest accurate rival\n\n" + comparison(
        result, GOALS.get, lambda network, threads: result.times.get((network, threads, OURS)), result.fastest)


def cold_starts(result):
    def measure(network):
        if network in COLD_GOALS:
            return lambda start: start["cold_ms"]
        return lambda start: start["load_ms"] + start["first_ms"]
    text = ("### A whole process, from its start to the first answer\n\nIf the goal is "
            f"{1 / 3:.2f}, the rival's time is that of its whole process. If it is 1, the rival's time includes only "
            "loading the network and the first image, without starting its process.\n\n")
    return text + comparison(
        result, lambda network: COLD_GOALS.get(network, 1),
        lambda network, threads: result.machine["networks"][network]["cold_ms"].get(str(threads)),
        lambda network, threads: result.least(network, threads, measure(network)))


def every_engine(result, threads, picture):
    rows = []
    for network in result.networks:
        roof = result.roofline(network, threads)
        row = [NETWORKS[network], milliseconds(roof) if roof else ""]
        for engine in [OURS] + result.rivals:
            time = result.times.get((network, threads, engine))
            is_shown = engine == OURS or result.is_accurate(network, engine)
            row.append("" if time is None else milliseconds(time) + ("" if is_shown else " ✗"))
        rows.append(row)
    text = f"### Every engine, ms, {threads_text(threads)}\n\n"
    text += table(["network", "roofline", "ours"] + [ENGINES[engine] for engine in result.rivals], rows)
    if picture:
        text += f"\n![Times as multiples of the roofline, {result.title}, {threads_text(threads)}]({picture})\n"
    return text


def part(result, docs):
    """What differs from one instruction set to the next; writes the plots into the folder `docs`."""
    pieces = [f"## {result.title}\n\n{machine_text(result)}", speed(result)]
    for threads in result.threads:
        drawing, picture = plot(result, threads), None
        if drawing:
            picture = f"performance-{result.instruction_set}-{threads}.svg"
            with open(f"{docs}/{picture}", "w") as file:
                file.write(drawing)
        pieces.append(every_engine(result, threads, picture))
    return "\n".join(pieces + [cold_starts(result)])


def scaling(found):
    """How many times one thread's speed two have, for each instruction set."""
    found = [result for result in found if {1, 2} <= set(result.threads)]
    if not found:
        return ""
    rows = []
    for network in found[0].networks:
        goal = SCALING_GOALS.get(network)
        row = [NETWORKS[network], f"{goal:.2f}" if goal else ""]
        for result in found:
            ours = result.scaling(network, OURS)
            best = max(((ratio, engine) for engine in result.rivals
                        if (ratio := result.scaling(network, engine))), default=None)
            row.append(mark(ours, goal is None or ours >= goal) if ours else "")
            row.append(f"{best[0]:.2f} {ENGINES[best[1]]}" if best else "")
        rows.append(row)
    header = ["network", "goal"]
    for result in found:
        header += [f"ours, {result.title}", "best rival"]
    return "## From one thread to two\n\nSpeed relative to one thread.\n\n" + table(header, rows)


def memory(found):
    """The peak with the most threads, of the first instruction set; it is nearly the same with others."""
    result = found[0]
    threads = result.threads[-1]

    def ours(result, network):
        return result.machine["networks"].get(network, {}).get("memory", {}).get(str(threads))
    rows, differences = [], []
    for network in result.networks:
        parts = ours(result, network)
        best = result.least(network, threads, lambda start: start["rss"] * 1.048576)
        if not parts or not best:
            continue
        peak, packed, arena, files = (
            parts[name] / 1e6 for name in
            ("peak_memory_bytes", "packed_weight_bytes", "arena_bytes", "file_page_bytes"))
        rest = peak - packed - arena - files
        rows.append([NETWORKS[network], mark(peak, peak < best[0], ".0f"), f"{packed:.1f}", f"{arena:.1f}",
                     f"{files:.1f}", mark(rest, rest <= LARGEST_REST_MB, ".0f"), f"{best[0]:.0f} {ENGINES[best[1]]}"])
        differences += [abs(other["peak_memory_bytes"] / parts["peak_memory_bytes"] - 1)
                        for other in (ours(result, network) for result in found[1:]) if other]
    text = f"## Peak memory\n\n{threads_text(threads).capitalize()}, {result.title}"
    if differences:
        text += (f"; with {' and '.join(other.title for other in found[1:])}, ours differs by at most "
                 f"{100 * max(differences):.1f}%")
    header = ["network", "ours, MB", "packed weights", "arena", "pages of files", "everything else",
              "leanest rival, MB"]
    return (f"{text}. The goals: less than the leanest rival, and at most {LARGEST_REST_MB} MB for everything else.\n\n"
            + table(header, rows))


def errors(found):
    """Ours with each instruction set, beside the rivals'."""
    rivals = [engine for engine in ENGINES if any(engine in result.rivals for result in found)]
    rows = []
    for network in found[0].networks:
        row = [NETWORKS[network]]
        for result in found:
            error = result.error(network, OURS) if network in result.networks else None
            row.append("" if error is None else mark(error, error <= LARGEST_OWN_ERROR, ".1e"))
        for engine in rivals:
            largest = max(result.error(network, engine) for result in found)
            row.append(f"{largest:.1e}" if 0 <= largest < math.inf else "")
        rows.append(row)
    header = ["network"] + [f"ours, {result.title}" for result in found] + [ENGINES[engine] for engine in rivals]
    note = " For rivals, it is the largest error with any instruction set." if len(found) > 1 else ""
    return f"## Errors\n\nThe goal is at most {LARGEST_OWN_ERROR:.0e}.{note}\n\n" + table(header, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--docs", default=os.path.dirname(os.path.abspath(__file__)) + "/../../docs")
    options = parser.parse_args()
    found = results(options.results)
    pieces = [part(result, options.docs) for result in found] + [errors(found), memory(found), scaling(found)]
    path = options.docs + "/performance.md"
    head, _, rest = open(path).read().partition(BEGIN)
    _, _, tail = rest.partition(END)
    with open(path, "w") as file:
        file.write(head + BEGIN + "\n\n" + "\n".join(piece for piece in pieces if piece) + "\n" + END + tail)
    print("wrote", os.path.normpath(path))


main()
