#!/usr/bin/env python3
"""Writes the tables of docs/performance.md and its plots from a result of the peers' benchmark.

    report.py RESULT [--docs docs] [--ours assay]

RESULT holds samples.jsonl and cold.jsonl of bench_peers.py, and machine.json of collect.py. The same
result gives the same bytes. Nothing but the standard library is needed.
"""
import argparse
import collections
import json
import math
import os

# What a ratio to the fastest accurate rival shall be at most.
GOALS = {"vgg16": 0.60, "tinyyolo": 0.60, "style": 0.45, "resnet50": 0.85, "inceptionv3": 0.85,
         "squeezenet": 0.85, "mobilenet": 0.85, "toy": 0.40}
TITLES = {"vgg16": "VGG-16", "tinyyolo": "Tiny YOLO", "style": "style transfer", "resnet50": "ResNet-50",
          "inceptionv3": "Inception v3", "squeezenet": "SqueezeNet", "mobilenet": "MobileNet",
          "toy": "Swish toy"}
ENGINES = {"litert": "LiteRT", "ort": "ONNX Runtime", "openvino": "OpenVINO", "ncnn": "ncnn", "mnn": "MNN",
           "tf": "TensorFlow", "torch": "PyTorch", "cv5": "OpenCV 5", "cv4": "OpenCV 4", "tract": "tract"}
# A whole process of these takes at most a third of the fastest rival's.
SMALL = ("toy", "squeezenet", "mobilenet")
SCALING = {"resnet50": 1.85, "tinyyolo": 1.85, "vgg16": 1.80}
LARGEST_ERROR = 1e-4
BEGIN, END = "<!-- begin of the tables that Tests/Performance/report.py writes -->", "<!-- end of the tables -->"


class Result:
    """Samples and cold starts by (network, threads, engine)."""

    def __init__(self, folder, ours):
        self.machine = json.load(open(folder + "/machine.json"))
        self.ours = ours
        self.folder = folder
        cores = self.machine["cores"]
        clean, every = collections.defaultdict(list), collections.defaultdict(list)
        for line in open(folder + "/samples.jsonl"):
            burst = json.loads(line)
            key = burst["model"], burst["threads"], burst["engine"]
            every[key] += burst["ms"]
            # Bursts that other processes disturbed count only where there are no others.
            if burst["oth"] <= cores - burst["threads"] + 0.12:
                clean[key] += burst["ms"]
        self.times = {key: min(clean[key] or every[key]) for key in every}
        self.counts = {key: len(clean[key] or every[key]) for key in every}
        self.cold = {}
        for line in open(folder + "/cold.jsonl"):
            start = json.loads(line)
            key = start["model"], start["threads"], start["engine"]
            best = self.cold.setdefault(key, dict(start))
            for name in ("cold_ms", "load_ms", "first_ms"):
                best[name] = min(best[name], start[name])
            best["rss"] = max(best["rss"], start["rss"])
        known = {key[0] for key in self.times}
        self.networks = [name for name in TITLES if name in known and name in self.machine["networks"]]
        self.threads = sorted({key[1] for key in self.times})
        self.rivals = sorted({key[2] for key in self.times} - {ours}, key=lambda e: list(ENGINES).index(e))

    def error(self, network, engine):
        """Relative to the largest value, of the rivals as the benchmark found it."""
        if engine == self.ours:
            return self.machine["networks"][network]["error"]
        errors = [start["rel"] for key, start in self.cold.items()
                  if key[0] == network and key[2] == engine and "rel" in start]
        return max(errors) if errors else math.inf

    def accurate(self, network, threads):
        """Rivals with an error of at most 1e-4, by time."""
        found = [(self.times[network, threads, engine], engine) for engine in self.rivals
                 if (network, threads, engine) in self.times
                 and 0 <= self.error(network, engine) <= LARGEST_ERROR]
        return sorted(found)

    def roofline(self, network, threads):
        """Milliseconds at the machine's peak, the weights of dense layers at the memory's."""
        entry = self.machine["networks"][network]
        peak = self.machine["peak_gflops"].get(str(threads))
        if not peak:
            return None
        seconds = 2 * entry["needed_multiply_adds"] / (peak * 1e9)
        bandwidth = self.machine.get("bandwidth", {}).get(str(threads))
        if bandwidth:
            dense = entry["dense_weight_bytes"] / 4
            seconds -= 2 * dense / (peak * 1e9)
            seconds += max(2 * dense / (peak * 1e9), entry["dense_weight_bytes"] / (bandwidth * 1e9))
        return seconds * 1e3


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def milliseconds(value):
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


def threads_text(count):
    return f"{count} thread" + ("" if count == 1 else "s")


def mark(value, goal):
    return f"{value:.2f}" if value <= goal else f"**{value:.2f}**"


def machine_text(result):
    machine = result.machine
    peaks = ", ".join(f"{machine['peak_gflops'][str(t)]:.0f} GFLOP/s on {threads_text(t)}"
                      for t in result.threads if str(t) in machine["peak_gflops"])
    text = (f"Machine: {machine['processor']}, {machine['cores']} cores, kernels for "
            f"{machine['instruction_set']}; peak {peaks}")
    if "bandwidth" in machine:
        text += "; from memory " + ", ".join(
            f"{machine['bandwidth'][str(t)]:.0f} GB/s" for t in result.threads if str(t) in machine["bandwidth"])
    samples = sorted(result.counts.values())
    return text + f". {samples[0]} to {samples[-1]} samples of each engine.\n"


def ratio_table(result):
    rows = []
    for network in result.networks:
        row = [TITLES[network], f"{GOALS[network]:.2f}"]
        for threads in result.threads:
            ours = result.times.get((network, threads, result.ours))
            rivals = result.accurate(network, threads)
            if ours is None or not rivals:
                row += ["", "", ""]
                continue
            best, engine = rivals[0]
            row += [milliseconds(ours), f"{milliseconds(best)} {ENGINES[engine]}",
                    mark(ours / best, GOALS[network])]
        row.append(f"{result.error(network, result.ours):.1e}")
        rows.append(row)
    header = ["network", "goal"]
    for threads in result.threads:
        header += [f"ours, ms, {threads_text(threads)}", "fastest rival, ms", "ratio"]
    return table(header + ["our error"], rows)


def every_table(result, threads):
    rows = []
    for network in result.networks:
        ours = result.times.get((network, threads, result.ours))
        roof = result.roofline(network, threads)
        row = [TITLES[network], milliseconds(roof) if roof else "", milliseconds(ours) if ours else ""]
        for engine in result.rivals:
            time = result.times.get((network, threads, engine))
            is_accurate = 0 <= result.error(network, engine) <= LARGEST_ERROR
            row.append("" if time is None else milliseconds(time) + ("" if is_accurate else " ✗"))
        rows.append(row)
    return table(["network", "roofline", "ours"] + [ENGINES[engine] for engine in result.rivals], rows)


def cold_table(result):
    rows = []
    for network in result.networks:
        row = [TITLES[network]]
        for threads in result.threads:
            ours = result.machine["networks"][network]["cold_ms"].get(str(threads))
            others = [(result.cold[key], key[2]) for key in result.cold
                      if key[0] == network and key[1] == threads and key[2] != result.ours]
            if ours is None or not others:
                row += ["", ""]
                continue
            if network in SMALL:
                best, engine = min((start["cold_ms"], engine) for start, engine in others)
                row += [milliseconds(ours),
                        f"{milliseconds(best)} {ENGINES[engine]}, {mark(ours / best, 1 / 3)} of it"]
            else:
                best, engine = min((s["load_ms"] + s["first_ms"], e) for s, e in others)
                row += [milliseconds(ours),
                        f"{milliseconds(best)} {ENGINES[engine]} without its start, {mark(ours / best, 1)} of it"]
        rows.append(row)
    header = ["network"]
    for threads in result.threads:
        header += [f"ours, ms, {threads_text(threads)}", "fastest rival, ms"]
    return table(header, rows)


def memory_table(result):
    rows = []
    threads = result.threads[-1]
    for network in result.networks:
        memory = result.machine["networks"][network]["memory"].get(str(threads))
        others = [(result.cold[key]["rss"], key[2]) for key in result.cold
                  if key[0] == network and key[1] == threads and key[2] != result.ours]
        if not memory or not others:
            continue
        peak, packed, arena, files = (
            memory[name] / 1e6 for name in
            ("peak_memory_bytes", "packed_weight_bytes", "arena_bytes", "file_page_bytes"))
        rest = peak - packed - arena - files
        best, engine = min(others)
        best *= 1.048576
        rows.append([TITLES[network], f"{peak:.0f}", f"{packed:.1f}", f"{arena:.1f}", f"{files:.1f}",
                     f"{rest:.0f}" if rest <= 30 else f"**{rest:.0f}**",
                     f"{best:.0f} {ENGINES[engine]}" if peak < best else f"**{best:.0f}** {ENGINES[engine]}"])
    return table(["network", "ours, MB", "packed weights", "arena", "pages of files", "all else", "leanest rival, MB"], rows)


def scaling_table(result):
    if not {1, 2} <= set(result.threads):
        return ""
    rows = []
    for network in result.networks:
        def ratio(engine):
            pair = [result.times.get((network, count, engine)) for count in (1, 2)]
            return pair[0] / pair[1] if all(pair) else None
        ours = ratio(result.ours)
        if ours is None:
            continue
        rivals = [(ratio(engine), engine) for engine in result.rivals if ratio(engine)]
        best, engine = max(rivals)
        goal = SCALING.get(network)
        shown = f"{ours:.2f}" if goal is None or ours >= goal else f"**{ours:.2f}**"
        rows.append([TITLES[network], f"{goal:.2f}" if goal else "", shown, f"{best:.2f} {ENGINES[engine]}"])
    return table(["network", "goal", "ours", "best rival"], rows)


# MARK: plot

PALETTE = {"litert": "#e69f00", "ort": "#56b4e9", "openvino": "#009e73", "ncnn": "#d55e00", "mnn": "#cc79a7",
           "tf": "#888888", "torch": "#aa4499", "cv5": "#999933", "cv4": "#666633", "tract": "#4477aa"}


def shape(engine, x, y, color, is_filled):
    """A mark of its own for each engine, so that colour is not needed to tell them apart."""
    fill = color if is_filled else "#ffffff"
    style = f'fill="{fill}" stroke="{color}" stroke-width="2"'
    kind = list(ENGINES).index(engine) % 5
    if kind == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" {style}/>'
    if kind == 1:
        return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {style}/>'
    corners = {2: ((0, -6.5), (6, 5), (-6, 5)), 3: ((0, -7), (7, 0), (0, 7), (-7, 0)),
               4: ((-6, -5), (6, -5), (0, 6.5))}[kind]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" {style}/>'


def plot(result, threads):
    """Times as multiples of the roofline, on a logarithmic axis, a row a network."""
    left, right, top, row = 150, 110, 92, 52
    width, height = 900, top + row * len(result.networks) + 56
    factors = {}
    for network in result.networks:
        roof = result.roofline(network, threads)
        for engine in [result.ours] + result.rivals:
            time = result.times.get((network, threads, engine))
            if roof and time:
                factors[network, engine] = time / roof
    if not factors:
        return None
    low = min(0.8, min(factors.values()) * 0.92)
    high = max(factors.values()) * 1.08
    span = width - left - right

    def place(factor):
        return left + span * math.log(factor / low) / math.log(high / low)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, DejaVu Sans, sans-serif" font-size="14">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           f'<text x="{left}" y="28" font-size="17" font-weight="bold">Time of one image as a multiple of the '
           f'roofline, {threads_text(threads)}</text>']
    x = left
    for engine in [result.ours] + result.rivals:
        if engine == result.ours:
            svg.append(f'<circle cx="{x + 7}" cy="52" r="7" fill="#000000"/>')
            label = "Assay"
        else:
            svg.append(shape(engine, x + 7, 52, PALETTE[engine], True))
            label = ENGINES[engine]
        svg.append(f'<text x="{x + 20}" y="57">{label}</text>')
        x += 38 + 8 * len(label)
    svg.append(f'<text x="{left}" y="78" font-size="12" fill="#555555">hollow: an error of more than 1e-4 of the '
               f'largest output</text>')
    bottom = top + row * len(result.networks)
    for tick in (0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100):
        if not low <= tick <= high:
            continue
        line = place(tick)
        is_roof = tick == 1
        svg.append(f'<line x1="{line:.1f}" y1="{top}" x2="{line:.1f}" y2="{bottom}" '
                   f'stroke="{"#000000" if is_roof else "#dddddd"}" stroke-width="{2 if is_roof else 1}"/>')
        svg.append(f'<text x="{line:.1f}" y="{bottom + 18}" text-anchor="middle" font-size="12" '
                   f'fill="#555555">{tick:g}</text>')
    svg.append(f'<text x="{place(1):.1f}" y="{bottom + 38}" text-anchor="middle" font-size="12">roofline</text>')
    svg.append(f'<text x="{width - 12}" y="{top - 10}" text-anchor="end" font-size="12" fill="#555555">'
               f'ours, ms</text>')
    for index, network in enumerate(result.networks):
        y = top + row * index + row / 2
        if index % 2 == 0:
            svg.insert(2, f'<rect x="0" y="{y - row / 2:.1f}" width="{width}" height="{row}" fill="#f6f6f6"/>')
        svg.append(f'<text x="{left - 14}" y="{y + 5:.1f}" text-anchor="end">{TITLES[network]}</text>')
        for number, engine in enumerate(result.rivals):
            if (network, engine) in factors:
                # Above one another, so that equal times do not cover each other.
                level = y + (number - (len(result.rivals) - 1) / 2) * 28 / max(1, len(result.rivals) - 1)
                is_accurate = 0 <= result.error(network, engine) <= LARGEST_ERROR
                svg.append(shape(engine, place(factors[network, engine]), level, PALETTE[engine], is_accurate))
        if (network, result.ours) in factors:
            svg.append(f'<circle cx="{place(factors[network, result.ours]):.1f}" cy="{y:.1f}" r="7" fill="#000000"/>')
            ours = milliseconds(result.times[network, threads, result.ours])
            svg.append(f'<text x="{width - 12}" y="{y + 5:.1f}" text-anchor="end">{ours}</text>')
    return "\n".join(svg + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--docs", default=os.path.dirname(os.path.abspath(__file__)) + "/../../docs")
    parser.add_argument("--ours", default="assay")
    options = parser.parse_args()
    result = Result(options.result, options.ours)
    text = machine_text(result) + "\n### Against the fastest rival with an error of at most 1e-4\n\n"
    text += "Above the goal in bold.\n\n" + ratio_table(result)
    for threads in result.threads:
        text += f"\n### Every engine, ms, {threads_text(threads)}\n\n✗: an error of more than 1e-4.\n\n"
        text += every_table(result, threads)
        drawing = plot(result, threads)
        if drawing:
            name = f"performance-{threads}.svg"
            with open(f"{options.docs}/{name}", "w") as file:
                file.write(drawing)
            text += f"\n![Times as multiples of the roofline, {threads_text(threads)}]({name})\n"
    text += ("\n### A whole process, from its start to the first answer\n\n" + cold_table(result)
             + f"\n### Peak memory, {threads_text(result.threads[-1])}\n\n" + memory_table(result))
    scaling = scaling_table(result)
    if scaling:
        text += "\n### Times one thread's speed, with two\n\n" + scaling
    path = options.docs + "/performance.md"
    page = open(path).read()
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    with open(path, "w") as file:
        file.write(head + BEGIN + "\n\n" + text + "\n" + END + tail)
    print("wrote", path)


main()
