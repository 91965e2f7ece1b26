#!/usr/bin/env python3
"""diagnosis.py ASSAY SHARED [--each N] [--only CAUSE] [--json FILE] — does `assay diff --diagnose` name the cause?

Converts networks of SHARED/corpus, damages the converted file, its inputs or the expected values in one known way,
and asks for a diagnosis. The damage is done to the protobuf by coremltools, to the arrays by NumPy and to images by
Pillow; the expected values are the framework's, or for images, whose preparation is not part of the corpora, the
undamaged model's. Prints for each cause how often it was named first, and among the first two.

Needs coremltools, numpy and Pillow.
"""
import argparse, collections, glob, json, os, random, re, subprocess, sys, tempfile

import numpy as np
from PIL import Image
from coremltools.proto import Model_pb2


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True)


def network(spec):
    return getattr(spec, spec.WhichOneof("Type"))


def layers(spec, kind):
    return [l for l in network(spec).layers if l.WhichOneof("layer") == kind]


def each(kind, change):
    """Damages every layer of a type; `change` says whether it did."""
    def damage(spec, inputs, expected):
        return any([change(getattr(l, kind)) is not False for l in layers(spec, kind)])
    return damage


def padding(spec, inputs, expected):
    found = False
    for kind in ("convolution", "pooling"):
        for l in layers(spec, kind):
            p = getattr(l, kind)
            if p.HasField("same"):
                p.same.asymmetryMode = 1 - p.same.asymmetryMode
                found = True
    return found


def average(p):
    if p.type != 1 or p.globalPooling: return False
    p.avgPoolExcludePadding = not p.avgPoolExcludePadding


def epsilon(p):
    p.epsilon = 3e-2


def exchange(a, b):
    def change(p):
        x, y = list(getattr(p, a).floatValue), list(getattr(p, b).floatValue)
        if not x or not y: return False
        getattr(p, a).floatValue[:], getattr(p, b).floatValue[:] = y, x
    return change


def leaky(p):
    if p.WhichOneof("NonlinearityType") != "leakyReLU": return False
    p.leakyReLU.alpha = 0.17


def hard(p):
    if p.WhichOneof("NonlinearityType") != "sigmoidHard": return False
    p.sigmoidHard.alpha, p.sigmoidHard.beta = 1 / 6, 0.5


def soft(p):
    if p.WhichOneof("NonlinearityType") != "sigmoidHard": return False
    p.sigmoid.SetInParent()


def recurrent_hard(p):
    return any([hard(a) is not False for a in p.activations])


def rotate(message, names):
    values = [list(getattr(message, n).floatValue) for n in names]
    if not all(values): return False
    for n, v in zip(names, values[1:] + values[:1]): getattr(message, n).floatValue[:] = v


def lstm_gates(p):
    w = p.weightParams
    gates = ["inputGate", "forgetGate", "blockInput"]
    done = [rotate(w, [g + part for g in gates]) is not False for part in ("WeightMatrix", "RecursionMatrix")]
    rotate(w, [g + "BiasVector" for g in gates])
    return all(done)


def gru_gates(p):
    gates = ["updateGate", "resetGate"]
    done = [rotate(p, [g + part for g in gates]) is not False for part in ("WeightMatrix", "RecursionMatrix")]
    rotate(p, [g + "BiasVector" for g in gates])
    return all(done)


def forget(p):
    v = p.weightParams.forgetGateBiasVector.floatValue
    if not v: return False
    v[:] = [x - 1 for x in v]


def direction(p):
    p.reverseInput = not p.reverseInput


def kernel(change):
    def damage(p):
        if p.isDeconvolution or max(p.kernelSize or [1]) < 2: return False
        w = np.array(p.weights.floatValue, np.float32).reshape(
            p.outputChannels, p.kernelChannels, p.kernelSize[0], p.kernelSize[1])
        w = change(w)
        if w is None: return False
        p.weights.floatValue[:] = w.ravel().tolist()
    return damage


def transposed_kernel(w):
    return w.swapaxes(2, 3) if w.shape[2] == w.shape[3] else None


def dense_transposed(p):
    if p.inputChannels != p.outputChannels or p.inputChannels < 2: return False
    w = np.array(p.weights.floatValue).reshape(p.outputChannels, p.inputChannels)
    p.weights.floatValue[:] = w.T.ravel().tolist()


def flattened(spec, inputs, expected):
    """Orders the columns of the first dense layer behind a flattening for the other order of axes."""
    flat = layers(spec, "flatten")
    dense = layers(spec, "innerProduct")
    pools = [l for k in ("convolution", "pooling") for l in layers(spec, k)]
    if not flat or not dense or not pools: return False
    channels = [p.convolution.outputChannels for p in pools if p.WhichOneof("layer") == "convolution"]
    p = dense[0].innerProduct
    if not channels or channels[-1] < 2 or p.inputChannels % channels[-1] or p.inputChannels == channels[-1]: return False
    w = np.array(p.weights.floatValue).reshape(p.outputChannels, -1, channels[-1])
    p.weights.floatValue[:] = w.swapaxes(1, 2).ravel().tolist()
    return True


def without_last(kind, test=lambda l: True):
    def damage(spec, inputs, expected):
        net = network(spec)
        last = net.layers[-1]
        if last.WhichOneof("layer") != kind or not test(last) or len(net.layers) < 2: return False
        if any(last.input[0] in l.input for l in net.layers[:-1]): return False
        for l in net.layers[:-1]:
            for i, name in enumerate(l.output):
                if name == last.input[0]: l.output[i] = last.output[0]
        del net.layers[-1]
        return True
    return damage


def softmax_twice(spec, inputs, expected):
    net = network(spec)
    last = net.layers[-1]
    if last.WhichOneof("layer") != "softmax": return False
    layer = net.layers.add()
    layer.CopyFrom(last)
    layer.name += "_again"
    last.output[0] += "_once"
    layer.input[0] = last.output[0]
    return True


def upsampling(p):
    p.mode = 1 - p.mode


def on(which, change):
    """Damages arrays: `change` returns the damaged one, or None."""
    def damage(spec, inputs, expected):
        arrays = inputs if which == "inputs" else expected
        found = False
        for name, value in list(arrays.items()):
            new = change(value)
            if new is not None and (new.shape != value.shape or not np.array_equal(new, value)):
                arrays[name] = np.ascontiguousarray(new)
                found = True
        return found
    return damage


def color(a): return a[..., ::-1] if a.ndim == 4 and a.shape[-1] == 3 else None
def turned(a): return a.swapaxes(1, 2) if a.ndim == 4 and a.shape[1] == a.shape[2] > 1 else None
def time(a): return a[:, ::-1] if a.ndim == 3 and a.shape[1] > 2 else None
def upside(a): return a[:, ::-1] if a.ndim == 4 and a.shape[1] > 1 else None
def first(a): return a.transpose(0, 3, 1, 2) if a.ndim == 4 and a.shape[3] > 1 and a.shape[1] > 1 else None
def classes(a):
    if a.ndim != 2 or a.shape[0] != 1 or a.shape[1] < 3: return None
    order = list(range(a.shape[1]))
    random.Random(1).shuffle(order)
    return a[:, order]


def swapped(spec, inputs, expected):
    names = sorted(expected)
    for a in names:
        for b in names:
            if a < b and expected[a].shape == expected[b].shape and not np.allclose(expected[a], expected[b]):
                expected[a], expected[b] = expected[b], expected[a]
                return True
    return False


def is_sigmoid(l): return l.activation.WhichOneof("NonlinearityType") == "sigmoid"


# name: damage, what the explanation says
CAUSES = {
    "padding side": (padding, "padding is on the other side"),
    "average counts padding": (each("pooling", average), "count the padding"),
    "epsilon": (each("batchnorm", epsilon), "epsilon of normalizations"),
    "mean and variance": (each("batchnorm", exchange("mean", "variance")), "mean and variance"),
    "gamma and beta": (each("batchnorm", exchange("gamma", "beta")), "gamma and beta"),
    "leaky slope": (each("activation", leaky), "slope of leaky"),
    "hard sigmoid's slope": (each("activation", hard), "hard sigmoid .slope 0.2"),
    "hard sigmoid in LSTM": (each("uniDirectionalLSTM", recurrent_hard), "hard sigmoid .slope 0.2"),
    "hard sigmoid in GRU": (each("gru", recurrent_hard), "hard sigmoid .slope 0.2"),
    "sigmoid not hard": (each("activation", soft), "hard sigmoid .slope 0.2"),
    "LSTM gates": (each("uniDirectionalLSTM", lstm_gates), "gates of LSTMs"),
    "GRU gates": (each("gru", gru_gates), "gates of GRUs"),
    "forget bias": (each("uniDirectionalLSTM", forget), "forget gates' bias"),
    "direction of LSTM": (each("uniDirectionalLSTM", direction), "(direction|reverse order)"),
    "direction of GRU": (each("gru", direction), "(direction|reverse order)"),
    "kernels turned": (each("convolution", kernel(lambda w: w[:, :, ::-1, ::-1])), "rotated by 180"),
    "kernels transposed": (each("convolution", kernel(transposed_kernel)), "height and width"),
    "dense transposed": (each("innerProduct", dense_transposed), "square matrices"),
    "flatten order": (flattened, "first dense layer"),
    "softmax missing": (without_last("softmax"), "lacks the final softmax"),
    "softmax twice": (softmax_twice, "softmax twice"),
    "sigmoid missing": (without_last("activation", is_sigmoid), "lacks the final sigmoid"),
    "upsampling": (each("upsample", upsampling), "enlarged"),
    "input colors": (on("inputs", color), "(other order|BGR)"),
    "input turned": (on("inputs", turned), "height and width"),
    "input time": (on("inputs", time), "(reverse order|direction)"),
    "input upside down": (on("inputs", upside), "upside down"),
    "expected channels first": (on("expected", first), "channels first"),
    "expected time": (on("expected", time), "reverse order"),
    "class order": (on("expected", classes), "in another order"),
    "outputs swapped": (swapped, "are those of output"),
    "nothing": (lambda *_: True, None),
}

# name: (options of the right model, of the wrong one), (for run of the right one, of the wrong one), explanation
IMAGES = {
    "color": (["--preset", "keras-tf"], ["--preset", "keras-tf", "--color", "bgr"], [], [], "expects BGR"),
    "no scale": (["--preset", "keras-tf"], [], [], [], "−1 to 1"),
    "0 to 1": (["--image-scale", "1/255"], ["--preset", "keras-tf"], [], [], "0 to 1"),
    "mean": (["--preset", "caffe"], ["--color", "bgr"], [], [], "VGG's mean"),
    "mean and color": (["--preset", "caffe"], [], [], [], "VGG's mean"),
    "torch": (["--preset", "keras-torch"], ["--image-scale", "1/255"], [], [], "divided by its deviation"),
    "bias before scale": (["--image-scale", "1/128", "--image-mean", "0.9"], ["--image-scale", "1/128", "--image-mean", "115.2"],
                          [], [], "shifted before they are scaled"),
    "crop": (["--preset", "keras-tf"],) * 2 + (["--resize", "center-crop"], ["--resize", "squash"], "center-crop"),
    "filter": (["--preset", "keras-tf"],) * 2
    + (["--resize", "squash", "--interpolation", "bicubic"], ["--resize", "squash"], "bicubic"),
    "nearest": (["--preset", "keras-tf"],) * 2
    + (["--resize", "squash", "--interpolation", "nearest"], ["--resize", "squash"], "nearest|keras-load-img"),
    "half pixels": (["--preset", "keras-tf"],) * 2
    + (["--resize", "squash", "--interpolation", "tf-bilinear"], ["--resize", "squash"], "tf-bilinear"),
    "exif": (["--preset", "keras-tf"],) * 2
    + (["--resize", "squash", "--exif", "apply"], ["--resize", "squash"], "Exif"),
    "right": (["--preset", "keras-tf"],) * 2 + (["--resize", "squash"],) * 2 + (None,),
}


class Tally:
    def __init__(self): self.rows = collections.defaultdict(lambda: [0, 0, 0, []])

    def add(self, name, wanted, result, case):
        row = self.rows[name]
        row[0] += 1
        if wanted is None:
            right = result is None or not result["explanations"]
            found = [0] if right else []
        else:
            texts = [" ; ".join(c["summary"] for c in e["causes"]) for e in (result or {}).get("explanations", [])]
            found = [i for i, t in enumerate(texts) if re.search(wanted, t)]
        row[1] += bool(found) and found[0] == 0
        row[2] += bool(found) and found[0] <= 1
        print(f"{name} {case}: {'first' if found[:1] == [0] else 'second' if found[:1] == [1] else 'not named'}",
              file=sys.stderr, flush=True)
        if not found or found[0] > 0:
            row[3].append((case, [[c["summary"] for c in e["causes"]] for e in (result or {}).get("explanations", [])][:2]))


def diagnose(assay, model, inputs, expected, *options):
    done = run(assay, "diff", model, inputs, "--expected", expected, "--diagnose", "--json", "--budget", 60, *options)
    if done.returncode == 0: return True, None
    if done.returncode != 1:
        print(f"exit {done.returncode}: {done.stderr.strip()}", file=sys.stderr, flush=True)
        return False, None
    return True, json.loads(done.stdout).get("diagnosis")


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument("assay")
    arguments.add_argument("shared")
    arguments.add_argument("--each", type=int, default=6)
    arguments.add_argument("--only")
    arguments.add_argument("--json")
    options = arguments.parse_args()
    tally = Tally()
    scratch = tempfile.mkdtemp()
    cases = sorted(glob.glob(f"{options.shared}/corpus/keras/*")) + sorted(glob.glob(f"{options.shared}/corpus/keras-variants/*"))
    random.Random(5).shuffle(cases)
    left = {name: options.each for name in CAUSES if not options.only or options.only in name}
    if "nothing" in left: left["nothing"] = 50
    for case in cases:
        if not any(left.values()): break
        files = [f"{case}/{n}" for n in ("model.h5", "inputs.npz", "expected.npz")]
        if not all(map(os.path.exists, files)): continue
        model = f"{scratch}/model.mlmodel"
        if run(options.assay, "convert", "-q", files[0], "-o", model).returncode: continue
        if run(options.assay, "diff", model, files[1], "--expected", files[2]).returncode: continue
        data = open(model, "rb").read()
        for name in [n for n, count in left.items() if count]:
            spec = Model_pb2.Model.FromString(data)
            inputs, expected = dict(np.load(files[1])), dict(np.load(files[2]))
            damage, wanted = CAUSES[name]
            if not damage(spec, inputs, expected): continue
            wrong = f"{scratch}/wrong.mlmodel"
            open(wrong, "wb").write(spec.SerializeToString())
            np.savez(f"{scratch}/inputs.npz", **inputs)
            np.savez(f"{scratch}/expected.npz", **expected)
            ok, result = diagnose(options.assay, wrong, f"{scratch}/inputs.npz", f"{scratch}/expected.npz")
            # Damage that does no harm has no cause.
            if not ok or result is None and wanted is not None: continue
            left[name] -= 1
            tally.add(name, wanted, result, os.path.basename(case))
    photos = sorted(glob.glob(f"{options.shared}/models/images/*.jpg"))
    photo = f"{scratch}/photo.jpg"
    picture = Image.open(photos[0]).convert("RGB").resize((97, 71), Image.BICUBIC)
    exif = picture.getexif()
    exif[0x0112] = 3
    picture.save(photo, exif=exif, quality=95)
    shapes = [c for c in cases if os.path.exists(f"{c}/model.h5")]
    for name, (right, wrong, run_right, run_wrong, wanted) in IMAGES.items():
        if options.only and options.only not in name: continue
        count = 0
        for case in shapes:
            if count >= options.each: break
            try: inputs = dict(np.load(f"{case}/inputs.npz"))
            except OSError: continue
            if len(inputs) != 1: continue
            (feature, value), = inputs.items()
            if value.ndim != 4 or value.shape[-1] != 3 or value.shape[1] != value.shape[2] or value.shape[1] < 6: continue
            sizes = run_right + run_wrong
            squash = [] if sizes else ["--resize", "squash"]
            a, b = f"{scratch}/right.mlmodel", f"{scratch}/wrong.mlmodel"
            source = [f"{case}/model.h5", "--image-input", feature]
            if run(options.assay, "convert", "-q", *source, *right, "-o", a).returncode: continue
            if run(options.assay, "convert", "-q", *source, *wrong, "-o", b).returncode: continue
            expected = f"{scratch}/image.npz"
            if run(options.assay, "run", a, photo, *(run_right or squash), "-o", expected).returncode: continue
            ok, result = diagnose(options.assay, b, photo, expected, *(run_wrong or squash))
            if not ok or result is None and wanted is not None: continue
            count += 1
            tally.add("image: " + name, wanted, result, os.path.basename(case))
    total = [0, 0, 0]
    for name, row in tally.rows.items():
        print(f"{name:32} {row[0]:4} {row[1]:4} first {row[2]:4} among two")
        for case, texts in row[3]: print(f"    {case}: {texts}")
        if not name.endswith(("nothing", "right")): total = [a + b for a, b in zip(total, row)]
    print(f"{total[0]} diagnoses: cause first in {total[1]}, among the first two in {total[2]}")
    if options.json: json.dump(tally.rows, open(options.json, "w"))


main()
