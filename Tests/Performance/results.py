"""What folders of measure.sh hold: the runs of one machine with one instruction set, pooled."""
import collections
import json
import math
import re
import statistics

# From the narrowest to the widest.
INSTRUCTION_SETS = {"baseline": "SSE2", "avx2": "AVX2", "avx512": "AVX-512"}
NETWORKS = {"vgg16": "VGG-16", "tinyyolo": "Tiny YOLO", "style": "style transfer", "resnet50": "ResNet-50",
            "inceptionv3": "Inception v3", "squeezenet": "SqueezeNet", "mobilenet": "MobileNet",
            "toy": "Swish toy"}
ENGINES = {"litert": "LiteRT", "ort": "ONNX Runtime", "openvino": "OpenVINO", "ncnn": "ncnn", "mnn": "MNN",
           "tf": "TensorFlow", "torch": "PyTorch", "cv5": "OpenCV 5", "cv4": "OpenCV 4", "tract": "tract"}
OURS = "assay"
# What an error of a rival that counts is at most.
LARGEST_ERROR = 1e-4


def json_values(path):
    """The JSON values of a file, one after another."""
    text, space, decoder = open(path).read(), re.compile(r"\s*"), json.JSONDecoder()
    position = space.match(text).end()
    while position < len(text):
        value, position = decoder.raw_decode(text, position)
        position = space.match(text, position).end()
        yield value


def pooled(machines):
    """One machine of several runs on it: the best of what time disturbs, the most of memory and errors."""
    whole = machines[0]
    for machine in machines[1:]:
        for rates in ("peak_gflops", "bandwidth"):
            for threads, rate in machine.get(rates, {}).items():
                known = whole.setdefault(rates, {})
                known[threads] = max(rate, known.get(threads, 0))
        for name, entry in machine["networks"].items():
            known = whole["networks"].setdefault(name, entry)
            known["error"] = max(known["error"], entry["error"])
            for threads, time in entry["cold_ms"].items():
                known["cold_ms"][threads] = min(time, known["cold_ms"].get(threads, math.inf))
            for threads, memory in entry["memory"].items():
                known["memory"][threads] = max(memory, known["memory"].get(threads, memory),
                                               key=lambda parts: parts["peak_memory_bytes"])
    return whole


class Result:
    """Times and cold starts by (network, threads, engine), all in milliseconds."""

    def __init__(self, folders):
        machines = [machine for folder in folders for machine in json_values(folder + "/machine.json")]
        self.machine = pooled(machines)
        self.runs = len(machines)
        self.read_samples(folders)
        self.read_cold_starts(folders)
        known = {key[0] for key in self.times}
        self.networks = [name for name in NETWORKS if name in known and name in self.machine["networks"]]
        self.threads = sorted({key[1] for key in self.times})
        self.rivals = sorted({key[2] for key in self.times} - {OURS}, key=list(ENGINES).index)

    @property
    def instruction_set(self):
        return self.machine["instruction_set"]

    @property
    def title(self):
        return INSTRUCTION_SETS[self.instruction_set]

    def read_samples(self, folders):
        cores = self.machine["cores"]
        clean, every = collections.defaultdict(list), collections.defaultdict(list)
        for burst in (value for folder in folders for value in json_values(folder + "/samples.jsonl")):
            key = burst["model"], burst["threads"], burst["engine"]
            every[key] += burst["ms"]
            # Bursts that other processes disturbed count only where there are no others.
            if burst["oth"] <= cores - burst["threads"] + 0.12:
                clean[key] += burst["ms"]
        samples = {key: clean[key] or every[key] for key in every}
        self.times = {key: min(values) for key, values in samples.items()}
        self.counts = {key: len(values) for key, values in samples.items()}
        # How far an ordinary sample lies above the shortest one: what the machine's noise is.
        self.spread = statistics.median(statistics.median(values) / min(values) for values in samples.values()) - 1

    def read_cold_starts(self, folders):
        self.cold = {}
        for start in (value for folder in folders for value in json_values(folder + "/cold.jsonl")):
            key = start["model"], start["threads"], start["engine"]
            best = self.cold.setdefault(key, dict(start))
            for name in ("cold_ms", "load_ms", "first_ms"):
                best[name] = min(best[name], start[name])
            best["rss"] = max(best["rss"], start["rss"])

    def error(self, network, engine):
        """Relative to the largest value, of the rivals as the benchmark found it."""
        if engine == OURS:
            return self.machine["networks"][network]["error"]
        errors = [start["rel"] for key, start in self.cold.items()
                  if key[0] == network and key[2] == engine and "rel" in start]
        return max(errors) if errors else math.inf

    def is_accurate(self, network, engine):
        return 0 <= self.error(network, engine) <= LARGEST_ERROR

    def fastest(self, network, threads):
        """Time and name of the fastest accurate rival."""
        return min(((self.times[network, threads, engine], engine) for engine in self.rivals
                    if (network, threads, engine) in self.times and self.is_accurate(network, engine)), default=None)

    def least(self, network, threads, measure):
        """The least that `measure` makes of a rival's cold start, with the rival's name."""
        return min(((measure(start), engine) for (name, count, engine), start in self.cold.items()
                    if name == network and count == threads and engine != OURS), default=None)

    def scaling(self, network, engine):
        """How many times one thread's speed two have."""
        pair = [self.times.get((network, count, engine)) for count in (1, 2)]
        return pair[0] / pair[1] if all(pair) else None

    def roofline(self, network, threads):
        """Milliseconds at the machine's peak, the weights of dense layers at the memory's."""
        entry = self.machine["networks"][network]
        peak = self.machine["peak_gflops"].get(str(threads))
        if not peak:
            return None
        seconds = 2 * entry["needed_multiply_adds"] / (peak * 1e9)
        bandwidth = self.machine.get("bandwidth", {}).get(str(threads))
        if bandwidth:
            arithmetic = 2 * entry["dense_weight_bytes"] / 4 / (peak * 1e9)
            seconds += max(0, entry["dense_weight_bytes"] / (bandwidth * 1e9) - arithmetic)
        return seconds * 1e3


def results(folders):
    """One result for each instruction set that the folders were measured with, the narrowest first."""
    by_set = collections.defaultdict(list)
    for folder in folders:
        by_set[next(json_values(folder + "/machine.json"))["instruction_set"]].append(folder)
    return [Result(by_set[name]) for name in INSTRUCTION_SETS if name in by_set]
