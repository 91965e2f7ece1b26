#!/usr/bin/env python3
"""Transformers as ML Programs, side by side with other engines.

    pip install torch 'numpy<2' coremltools==9.0 onnx onnxscript onnxruntime openvino
    transformers.py make FOLDER [NAME…]             # packages, ONNX files, inputs, PyTorch's outputs
    transformers.py litert FOLDER [NAME…]           # files of LiteRT; needs nothing but litert-torch
    transformers.py compare FOLDER ASSAY [NAME…] [--threads 2] [--rounds 5] [--seconds 1.5]

`make` builds networks with fixed random weights: ViT-Base (one image of 224 × 224), BERT-Base
(128 tokens), and a step of a decoder of six layers after 255 cached positions. `compare` runs the
engines in turn, A B C A B C …, each for a moment at a time in a process of its own while the others
are stopped, and prints the shortest time of each in ms, the ratio of ours to the fastest rival's,
and the largest difference from PyTorch's output relative to its largest value. ASSAY_KERNELS=avx2
limits only Assay; Tests/Performance/without-avx512 describes what the others need.

`litert` needs a later NumPy than `make`, hence an environment of its own; it builds the same networks
again. LiteRT is compared if its file exists, and ai-edge-litert is installed.
"""
import argparse, json, os, shutil, signal, subprocess, sys, time, warnings

warnings.filterwarnings("ignore")
import numpy as np


def networks():
    import torch
    import torch.nn.functional as F
    from torch import nn

    def heads(x, count):
        return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)

    def joined(x):
        return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)

    class BertLayer(nn.Module):
        def __init__(self, size, count):
            super().__init__()
            self.count = count
            self.q, self.k, self.v, self.o = (nn.Linear(size, size) for _ in range(4))
            self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
            self.first, self.second = nn.LayerNorm(size, 1e-12), nn.LayerNorm(size, 1e-12)

        def forward(self, x, mask):
            q, k, v = (heads(f(x), self.count) for f in (self.q, self.k, self.v))
            scores = q @ k.transpose(-1, -2) / (q.shape[-1] ** 0.5) + mask
            x = self.first(x + self.o(joined(scores.softmax(-1) @ v)))
            return self.second(x + self.down(F.gelu(self.up(x))))

    class Bert(nn.Module):
        def __init__(self, size=768, count=12, layers=12, length=128):
            super().__init__()
            self.words, self.places = nn.Embedding(30522, size), nn.Embedding(512, size)
            self.norm = nn.LayerNorm(size, 1e-12)
            self.layers = nn.ModuleList(BertLayer(size, count) for _ in range(layers))
            self.pool = nn.Linear(size, size)
            self.register_buffer("order", torch.arange(length)[None])

        def forward(self, tokens, mask):
            x = self.norm(self.words(tokens) + self.places(self.order))
            mask = (1 - mask[:, None, None, :]) * -1e4
            for layer in self.layers:
                x = layer(x, mask)
            return x, torch.tanh(self.pool(x[:, 0]))

    class Layer(nn.Module):
        def __init__(self, size, count):
            super().__init__()
            self.count = count
            self.first, self.second = nn.LayerNorm(size), nn.LayerNorm(size)
            self.qkv, self.o = nn.Linear(size, 3 * size), nn.Linear(size, size)
            self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

        def forward(self, x, keys=None, values=None):
            q, k, v = (heads(y, self.count) for y in self.qkv(self.first(x)).chunk(3, -1))
            all_keys = k if keys is None else torch.cat([keys, k], 2)
            all_values = v if values is None else torch.cat([values, v], 2)
            x = x + self.o(joined(F.scaled_dot_product_attention(q, all_keys, all_values)))
            return x + self.down(F.gelu(self.up(self.second(x)))), k, v

    class ViT(nn.Module):
        def __init__(self, size=768, count=12, layers=12, classes=1000):
            super().__init__()
            self.patches = nn.Conv2d(3, size, 16, 16)
            self.token = nn.Parameter(torch.randn(1, 1, size) * 0.1)
            self.places = nn.Parameter(torch.randn(1, 197, size) * 0.1)
            self.layers = nn.ModuleList(Layer(size, count) for _ in range(layers))
            self.norm, self.out = nn.LayerNorm(size), nn.Linear(size, classes)

        def forward(self, image):
            x = self.patches(image).flatten(2).transpose(1, 2)
            x = torch.cat([self.token, x], 1) + self.places
            for layer in self.layers:
                x, _, _ = layer(x)
            return self.out(self.norm(x)[:, 0])

    class Decoder(nn.Module):
        def __init__(self, size=512, count=8, layers=6, words=8192):
            super().__init__()
            self.words, self.places = nn.Embedding(words, size), nn.Embedding(1024, size)
            self.layers = nn.ModuleList(Layer(size, count) for _ in range(layers))
            self.norm, self.out = nn.LayerNorm(size), nn.Linear(size, words, bias=False)

        def forward(self, token, place, keys, values):
            x, added = self.words(token) + self.places(place), []
            for index, layer in enumerate(self.layers):
                x, k, v = layer(x, keys[index], values[index])
                added += [k, v]
            return self.out(self.norm(x)), torch.stack(added[::2]), torch.stack(added[1::2])

    def image():
        return ViT(), {"image": np.random.rand(1, 3, 224, 224) * 2 - 1}, ["logits"]

    def words():
        mask = np.ones((1, 128))
        mask[:, 100:] = 0
        tokens = np.random.randint(0, 30522, (1, 128)).astype(np.int32)
        return Bert(), {"tokens": tokens, "mask": mask}, ["states", "pooled"]

    def step():
        cache = lambda: np.random.randn(6, 1, 8, 255, 64)
        inputs = {
            "token": np.array([[17]], np.int32), "place": np.array([[255]], np.int32),
            "keys": cache(), "values": cache(),
        }
        return Decoder(), inputs, ["logits", "new_keys", "new_values"]

    return {"vit-base": image, "bert-base": words, "decoder-step": step}


def built(names):
    """For each network its name, itself, its inputs by name, and the names of its outputs."""
    import torch

    for name, build in networks().items():
        if names and name not in names:
            continue
        torch.manual_seed(7)
        np.random.seed(7)
        network, inputs, outputs = build()
        network.eval()
        with torch.no_grad():
            for parameter in network.parameters():
                if parameter.dim() < 2:
                    parameter += torch.randn_like(parameter) * 0.05
        yield name, network, {
            k: v if v.dtype == np.int32 else v.astype(np.float32) for k, v in inputs.items()}, outputs


def make_litert(folder, names):
    import litert_torch
    import torch

    class Named(torch.nn.Module):
        """The network with outputs by name."""

        def __init__(self, network, outputs):
            super().__init__()
            self.network, self.outputs = network, outputs

        def forward(self, **inputs):
            results = self.network(*inputs.values())
            results = results if isinstance(results, tuple) else (results,)
            return dict(zip(self.outputs, results))

    for name, network, inputs, outputs in built(names):
        examples = {k: torch.from_numpy(v) for k, v in inputs.items()}
        model = litert_torch.convert(Named(network, outputs).eval(), sample_kwargs=examples)
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        model.export(f"{folder}/{name}/model.tflite")
        print(name, "made", flush=True)


def make(folder, names):
    import coremltools as ct
    import torch

    for name, network, inputs, outputs in built(names):
        whole = {k for k, v in inputs.items() if v.dtype == np.int32}
        path = f"{folder}/{name}"
        os.makedirs(path, exist_ok=True)
        examples = tuple(torch.from_numpy(v) for v in inputs.values())
        with torch.no_grad():
            expected = network(*examples)
            expected = expected if isinstance(expected, tuple) else (expected,)
            np.savez(f"{path}/inputs.npz", **inputs)
            np.savez(
                f"{path}/expected.npz", **{k: v.numpy() for k, v in zip(outputs, expected)})
            traced = torch.jit.trace(network, examples, check_trace=False)
            shutil.rmtree(f"{path}/model.mlpackage", ignore_errors=True)
            ct.convert(
                traced, convert_to="mlprogram", compute_precision=ct.precision.FLOAT32,
                minimum_deployment_target=ct.target.iOS17, skip_model_load=True,
                inputs=[
                    ct.TensorType(k, v.shape, dtype=np.int32 if k in whole else np.float32)
                    for k, v in inputs.items()
                ],
                outputs=[ct.TensorType(k, dtype=np.float32) for k in outputs],
            ).save(f"{path}/model.mlpackage")
            torch.onnx.export(
                network, examples, f"{path}/model.onnx", input_names=list(inputs),
                output_names=outputs, opset_version=17, dynamo=False)
        print(name, "made", flush=True)


def relative(path, outputs):
    expected = np.load(f"{path}/expected.npz")
    return max(
        float(np.abs(outputs[k].reshape(expected[k].shape) - expected[k]).max())
        / float(np.abs(expected[k]).max()) for k in expected.files)


def runner(engine, path, threads):
    """A function of no arguments that runs the network once and returns its outputs by name."""
    inputs = dict(np.load(f"{path}/inputs.npz"))
    names = np.load(f"{path}/expected.npz").files
    if engine == "onnxruntime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(
            f"{path}/model.onnx", options, providers=["CPUExecutionProvider"])
        return lambda: dict(zip(names, session.run(names, inputs)))
    if engine == "openvino":
        import openvino

        hints = {
            "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
            "ENABLE_CPU_PINNING": False}
        model = openvino.Core().compile_model(f"{path}/model.onnx", "CPU", hints)
        request = model.create_infer_request()

        def run():
            request.infer(inputs, share_inputs=True)
            return {name: request.get_tensor(name).data for name in names}

        return run
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=f"{path}/model.tflite", num_threads=threads)
    signature = interpreter.get_signature_runner()
    return lambda: signature(**inputs)


def work(engine, path, threads):
    """A rival's process: answers each line `SECONDS` with the times of its runs."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    run = runner(engine, path, threads)
    print(json.dumps({"error": relative(path, run())}), file=answers)
    for line in sys.stdin:
        end, times = time.perf_counter() + float(line), []
        while time.perf_counter() < end or len(times) < 3:
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps({"ms": times}), file=answers)


class Rival:
    def __init__(self, engine, path, threads):
        self.name = engine
        self.process = subprocess.Popen(
            [sys.executable, __file__, "work", engine, path, str(threads)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline()
        if not line:
            raise OSError(f"{engine} cannot run {path}")
        self.error = json.loads(line)["error"]
        os.kill(self.process.pid, signal.SIGSTOP)

    def times(self, seconds):
        os.kill(self.process.pid, signal.SIGCONT)
        print(seconds, file=self.process.stdin, flush=True)
        times = json.loads(self.process.stdout.readline())["ms"]
        os.kill(self.process.pid, signal.SIGSTOP)
        return times

    def close(self):
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


class Ours:
    name = "assay"

    def __init__(self, assay, path, threads):
        self.command = [
            assay, "bench", f"{path}/model.mlpackage", "--inputs", f"{path}/inputs.npz",
            "--threads", str(threads), "--json"]
        output = f"{path}/ours.npz"
        subprocess.run(
            [assay, "run", f"{path}/model.mlpackage", f"{path}/inputs.npz", "-o", output],
            check=True, stdout=subprocess.DEVNULL)
        self.error = relative(path, np.load(output))
        self.runs = 3

    def times(self, seconds):
        lines = subprocess.run(
            self.command + ["--warmup", "2", "--runs", str(self.runs)], check=True, text=True,
            stdout=subprocess.PIPE).stdout.splitlines()
        times = [json.loads(line)["ms"] for line in lines if '"ms"' in line]
        self.runs = max(3, int(seconds * 1e3 / min(times)))
        return times

    def close(self):
        pass


def compare(arguments):
    print("| network | threads | engine | ms | median | ratio | error |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.names or sorted(os.listdir(arguments.folder)):
        path = f"{arguments.folder}/{name}"
        engines = [Ours(arguments.assay, path, arguments.threads)]
        rivals = ["onnxruntime", "openvino"]
        if os.path.exists(f"{path}/model.tflite"):
            rivals.append("litert")
        engines += [Rival(engine, path, arguments.threads) for engine in rivals]
        times = {engine.name: [] for engine in engines}
        for _ in range(arguments.rounds):
            for engine in engines:
                times[engine.name] += engine.times(arguments.seconds)
        fastest = min(min(times[engine]) for engine in rivals)
        for engine in engines:
            best = min(times[engine.name])
            print(
                f"| {name} | {arguments.threads} | {engine.name} | {best:.4g} | "
                f"{np.median(times[engine.name]):.4g} | {best / fastest:.2f} | "
                f"{engine.error:.1e} |", flush=True)
            engine.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    makers = {"make": make, "litert": make_litert}
    for name in makers:
        maker = commands.add_parser(name)
        maker.add_argument("folder")
        maker.add_argument("names", nargs="*")
    comparison = commands.add_parser("compare")
    comparison.add_argument("folder")
    comparison.add_argument("assay")
    comparison.add_argument("names", nargs="*")
    comparison.add_argument("--threads", type=int, default=2)
    comparison.add_argument("--rounds", type=int, default=5)
    comparison.add_argument("--seconds", type=float, default=1.5)
    arguments = parser.parse_args()
    if arguments.command in makers:
        makers[arguments.command](arguments.folder, arguments.names)
    else:
        compare(arguments)
