"""The plots of docs/performance.md."""
import math

from results import ENGINES, NETWORKS, OURS
from text import milliseconds, threads_text

PALETTE = {"litert": "#e69f00", "ort": "#56b4e9", "openvino": "#009e73", "ncnn": "#d55e00", "mnn": "#cc79a7",
           "tf": "#888888", "torch": "#aa4499", "cv5": "#999933", "cv4": "#666633", "tract": "#4477aa"}


LEFT, RIGHT, TOP, ROW, WIDTH = 150, 110, 92, 58, 900


def shape(engine, x, y, is_filled=True):
    """A mark of its own for each engine, so that color is not needed to tell them apart."""
    if engine == OURS:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.5" fill="#000000"/>'
    color = PALETTE[engine]
    style = f'fill="{color if is_filled else "#ffffff"}" stroke="{color}" stroke-width="2"'
    kind = list(ENGINES).index(engine) % 5
    if kind == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" {style}/>'
    if kind == 1:
        return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {style}/>'
    corners = {2: ((0, -6.5), (6, 5), (-6, 5)), 3: ((0, -7), (7, 0), (0, 7), (-7, 0)),
               4: ((-6, -5), (6, -5), (0, 6.5))}[kind]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" {style}/>'


def label(x, y, text, anchor="start", is_small=False):
    small = ' font-size="12" fill="#555555"' if is_small else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{small}>{text}</text>'


def legend(engines):
    svg, x = [], LEFT
    for engine in engines:
        name = "Assay" if engine == OURS else ENGINES[engine]
        svg += [shape(engine, x + 7, 52), label(x + 20, 57, name)]
        x += 44 + 8 * len(name)
    return svg + [label(LEFT, 78, "hollow: an error of more than 1e-4 of the largest output", is_small=True),
                  label(WIDTH - 12, TOP - 10, "ours, ms", "end", is_small=True)]


def axis(low, high, place, bottom):
    svg = []
    for tick in (0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100):
        if low <= tick <= high:
            style = 'stroke="#000000" stroke-width="2"' if tick == 1 else 'stroke="#dddddd"'
            x = place(tick)
            svg += [f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" {style}/>',
                    label(x, bottom + 18, f"{tick:g}", "middle", is_small=True)]
    return svg + [label(place(1), bottom + 38, "roofline", "middle", is_small=True)]


def plot(result, threads):
    """An SVG of times as multiples of the roofline, on a logarithmic axis, a row a network."""
    engines = [OURS] + result.rivals
    factors = {}
    for network in result.networks:
        roof = result.roofline(network, threads)
        for engine in engines:
            time = result.times.get((network, threads, engine))
            if roof and time:
                factors[network, engine] = time / roof
    if not factors:
        return None
    low = min(0.8, min(factors.values()) * 0.92)
    high = max(factors.values()) * 1.08
    bottom = TOP + ROW * len(result.networks)
    height = bottom + 56

    def place(factor):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(factor / low) / math.log(high / low)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, DejaVu Sans, sans-serif" font-size="14">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    svg += [f'<rect x="0" y="{TOP + ROW * index}" width="{WIDTH}" height="{ROW}" fill="#f6f6f6"/>'
            for index in range(0, len(result.networks), 2)]
    svg.append(f'<text x="{LEFT}" y="28" font-size="17" font-weight="bold">Time of one image as a multiple of the '
               f'roofline, {result.title}, {threads_text(threads)}</text>')
    svg += legend(engines) + axis(low, high, place, bottom)
    for index, network in enumerate(result.networks):
        middle = TOP + ROW * (index + 0.5)
        svg.append(label(LEFT - 14, middle + 5, NETWORKS[network], "end"))
        # Above one another, so that equal times do not cover each other.
        for number, engine in enumerate(engines):
            if (network, engine) in factors:
                level = middle + (number - (len(engines) - 1) / 2) * 42 / len(engines)
                svg.append(shape(engine, place(factors[network, engine]), level,
                                 engine == OURS or result.is_accurate(network, engine)))
        if (network, OURS) in factors:
            svg.append(label(WIDTH - 12, middle + 5, milliseconds(result.times[network, threads, OURS]), "end"))
    return "\n".join(svg + ["</svg>"]) + "\n"
