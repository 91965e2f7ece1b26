#!/usr/bin/env python3
"""Images per second of a folder, JPEG decoding included, beside two other engines.

    pip install numpy pillow onnxruntime openvino
    throughput.py FOLDER ASSAY [NAME…] [--images 256] [--threads 2] [--rounds 3]
    throughput.py FOLDER ASSAY [NAME…] --scaling 1,16    # only Assay, on one thread and on 16

FOLDER/NAME holds model.mlmodel, whose input is an image, and model.onnx, whose input is the same
image as floats of 0 to 255, `[1, 3, height, width]`. The script makes JPEG files of 500 × 375
pixels in FOLDER/images.

Assay runs `assay run model.mlmodel images --resize squash`; its time is that of the whole process.
OpenVINO runs in its throughput mode, with as many decoding threads as cores, and ONNX Runtime as
many sessions of one thread as cores, each of which decodes its images; their times start when
everything is loaded and one image per session has run. Pillow decodes and resizes for both. The
engines take turns, and the highest rate of each is printed, with the ratio of ours to the others'.
"""
import argparse, io, json, os, queue, subprocess, sys, threading, time

import numpy as np

WIDTH, HEIGHT = 500, 375


def make_images(folder, count):
    """Smooth shapes with a little noise: about 60 KB each, as photographs of that size."""
    from PIL import Image

    os.makedirs(folder, exist_ok=True)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    for index in range(count):
        path = f"{folder}/{index:05}.jpg"
        if os.path.exists(path):
            continue
        random = np.random.default_rng(index)
        waves = random.uniform(0.005, 0.06, (3, 2))
        image = [128 + 90 * np.sin(rows * a + columns * b + 9 * a) for a, b in waves]
        image = np.stack(image, -1) + random.normal(0, 9, (HEIGHT, WIDTH, 3))
        Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(path, quality=90)
    return [f"{folder}/{index:05}.jpg" for index in range(count)]


def decoded(path, shape):
    from PIL import Image

    image = Image.open(path).convert("RGB").resize((shape[3], shape[2]), Image.BILINEAR)
    return np.ascontiguousarray(np.asarray(image, np.float32).transpose(2, 0, 1))[None]


def on_threads(count, body):
    threads = [threading.Thread(target=body, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def assay(program, folder, images, threads):
    """Images per second of a whole process."""
    command = [program, "run", f"{folder}/model.mlmodel", images, "--resize", "squash", "--quiet",
               "--threads", str(threads)]
    start = time.perf_counter()
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return text.count(b".jpg\n") / (time.perf_counter() - start)


class ONNXRuntime:
    def __init__(self, folder, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self.sessions = [
            onnxruntime.InferenceSession(f"{folder}/model.onnx", options,
                                         providers=["CPUExecutionProvider"])
            for _ in range(threads)]
        self.input = self.sessions[0].get_inputs()[0]

    def run(self, paths):
        left = queue.SimpleQueue()
        for path in paths:
            left.put(path)

        def work(index):
            while True:
                try:
                    path = left.get_nowait()
                except queue.Empty:
                    return
                values = decoded(path, self.input.shape)
                self.sessions[index].run(None, {self.input.name: values})[0].argmax()

        on_threads(len(self.sessions), work)


class OpenVINO:
    def __init__(self, folder, threads):
        import openvino

        self.model = openvino.Core().compile_model(
            f"{folder}/model.onnx", "CPU",
            {"PERFORMANCE_HINT": "THROUGHPUT", "INFERENCE_NUM_THREADS": threads,
             "INFERENCE_PRECISION_HINT": "f32"})
        self.requests = openvino.AsyncInferQueue(self.model)
        self.requests.set_callback(lambda request, _: request.get_output_tensor(0).data.argmax())
        self.shape = list(self.model.input(0).shape)
        self.threads = threads

    def run(self, paths):
        from concurrent.futures import ThreadPoolExecutor

        # A few images ahead of the requests.
        limit = threading.Semaphore(len(self.requests) + 2 * self.threads)

        def decode(path):
            limit.acquire()
            return decoded(path, self.shape)

        with ThreadPoolExecutor(self.threads) as pool:
            for values in pool.map(decode, paths):
                self.requests.start_async({0: values})
                limit.release()
            self.requests.wait_all()


def compare(folder, options, images, paths):
    rivals = {"ONNX Runtime": ONNXRuntime(folder, options.threads),
              "OpenVINO": OpenVINO(folder, options.threads)}
    rates = {"Assay": 0.0, **{name: 0.0 for name in rivals}}
    for rival in rivals.values():
        rival.run(paths[: 2 * options.threads])
    for _ in range(options.rounds):
        rates["Assay"] = max(rates["Assay"], assay(options.assay, folder, images, options.threads))
        for name, rival in rivals.items():
            start = time.perf_counter()
            rival.run(paths)
            rates[name] = max(rates[name], len(paths) / (time.perf_counter() - start))
    return rates


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("assay")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scaling", help="numbers of threads, separated by commas")
    options = parser.parse_args()
    images = f"{options.folder}/images"
    paths = make_images(images, options.images)
    names = options.names or sorted(
        name for name in os.listdir(options.folder)
        if os.path.exists(f"{options.folder}/{name}/model.mlmodel"))
    for name in names:
        folder = f"{options.folder}/{name}"
        if options.scaling:
            counts = [int(text) for text in options.scaling.split(",")]
            rates = [max(assay(options.assay, folder, images, count) for _ in range(options.rounds))
                     for count in counts]
            text = ", ".join(f"{count} threads {rate:.4g}/s" for count, rate in zip(counts, rates))
            print(f"{name}: {text}, ratio {rates[-1] / rates[0]:.2f}", flush=True)
            continue
        rates = compare(folder, options, images, paths)
        ours = rates.pop("Assay")
        text = ", ".join(f"{rival} {rate:.4g}/s" for rival, rate in rates.items())
        print(f"{name}: Assay {ours:.4g}/s, {text}, ratio {ours / max(rates.values()):.2f}",
              flush=True)


main()
