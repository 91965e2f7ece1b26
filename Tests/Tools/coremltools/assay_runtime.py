"""A pytest plug-in that lets coremltools' own tests run without Core ML.

coremltools predicts through a native module that only macOS has. This plug-in provides a module
of the same name whose models run `assay run`. README.md next to it shows the commands.

`ASSAY` names the program, and `ASSAY_LOG` a file that gets every message of a refused prediction.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import types

import numpy as np

PROGRAM = os.environ.get("ASSAY", "assay")
LOG = os.environ.get("ASSAY_LOG", os.devnull)
LARGE = 1 << 20


def plain(value):
    """The value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (str, bool, int)):
        return value
    array = np.asarray(value)
    if array.dtype.kind in "OU":
        return array.tolist()
    if array.dtype.kind in "iub":
        return array.astype(np.int64).tolist()
    return named(array.astype(np.float64).tolist())


def named(value):
    """Numbers that JSON has no word for become Assay's words."""
    if isinstance(value, list):
        return [named(item) for item in value]
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value


class Proxy:
    """One model, in a folder of its own."""

    def __init__(self, path, units, function="", hints=None, asset=None):
        self.folder = tempfile.mkdtemp(prefix="assay-")
        package = os.path.isdir(path)
        self.path = os.path.join(self.folder, "model" + (".mlpackage" if package else ".mlmodel"))
        (shutil.copytree if package else shutil.copyfile)(path, self.path)
        from coremltools.models.utils import load_spec

        description = load_spec(self.path).description
        self.outputs = {output.name: output.type for output in description.output}
        self.inputs = {feature.name: feature.type for feature in description.input}

        self.process = None

    def __del__(self):
        if getattr(self, "process", None):
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)

    @staticmethod
    def maximum_supported_specification_version():
        return 10

    @staticmethod
    def auto_set_specification_version(spec):
        return spec

    def predict(self, data, state=None):
        words = []
        values = {}
        for name, value in data.items():
            if hasattr(value, "save") and hasattr(value, "mode"):
                file = os.path.join(self.folder, f"image-{len(words)}.png")
                value.save(file)
                words.append(f"{name}={file}")
            else:
                values[name] = value
        if values and all(isinstance(value, np.ndarray) for value in values.values()):
            file = os.path.join(self.folder, "inputs.npz")
            np.savez(file, **values)
        elif values:
            file = os.path.join(self.folder, "inputs.json")
            with open(file, "w") as text:
                json.dump({name: plain(value) for name, value in values.items()}, text)
        if not words and sum(np.size(value) for value in values.values()) > LARGE:
            return self.large_results(file)
        if words:
            answer = self.answer_to_words(words + ([file] if values else []))
        else:
            answer = self.answer_to_file(file)
        return self.results(answer)

    def large_results(self, file):
        """Arrays by way of a file, since text takes long."""
        output = os.path.join(self.folder, "outputs.npz")
        result = subprocess.run(
            [PROGRAM, "run", self.path, file, "-o", output, "--quiet"],
            capture_output=True, text=True)
        if result.returncode:
            self.fail(result.stderr)
        with np.load(output) as arrays:
            return {name: arrays[name].astype(self.element_type(name)) for name in arrays.files}

    def command(self, words):
        return [PROGRAM, "run", self.path, *words, "--json", "--wnid", "--top", "1000000"]

    def answer_to_words(self, words):
        result = subprocess.run(self.command(words), capture_output=True, text=True)
        if result.returncode:
            self.fail(result.stderr)
        return json.loads(result.stdout)

    def answer_to_file(self, file):
        """One process answers all predictions of a model: it reads the files' names line by line."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command(["-"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
        try:
            self.process.stdin.write(file + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            process, self.process = self.process, None
            self.fail(process.communicate()[1])
        answer = json.loads(line)
        if "error" in answer:
            self.fail(str(answer["error"]))
        return answer

    def fail(self, message):
        with open(LOG, "a") as log:
            print(message.strip()[:600], file=log)
        raise RuntimeError(f"assay: {message.strip()[:600]}")

    def results(self, answer):
        """The values in the types that coremltools gives."""
        results = {}
        classes = answer.get("classes")
        if classes:
            for name, type in self.outputs.items():
                whole = type.WhichOneof("Type") == "int64Type"
                if type.WhichOneof("Type") in ("int64Type", "stringType"):
                    label = classes[0]["label"]
                    results[name] = int(label) if whole else label
        for name, value in {**answer["outputs"], **answer.get("features", {})}.items():
            kind = self.outputs[name].WhichOneof("Type") if name in self.outputs else None
            if kind in ("int64Type", "stringType") or isinstance(value, str):
                results[name] = value
            elif kind == "doubleType":
                results[name] = float(value[0] if isinstance(value, list) else value)
            elif kind == "dictionaryType":
                whole = self.outputs[name].dictionaryType.WhichOneof("KeyType") == "int64KeyType"
                if not isinstance(value, dict):
                    value = {item["label"]: item["probability"] for item in classes}
                results[name] = {
                    int(key) if whole else key: float(item) for key, item in value.items()
                }
            else:
                array = np.array([float(item) for item in value]).reshape(answer["shapes"][name])
                results[name] = array.astype(self.element_type(name))
                if kind == "imageType":
                    import PIL.Image

                    results[name] = PIL.Image.fromarray(
                        np.clip(np.round(array), 0, 255).astype(np.uint8).squeeze())
        return results

    def element_type(self, name):
        feature = self.outputs.get(name)
        if feature is None or feature.WhichOneof("Type") != "multiArrayType":
            return np.float32
        return {65600: np.float64, 131104: np.int32, 65552: np.float16}.get(
            feature.multiArrayType.dataType, np.float32)

    def batchPredict(self, items):
        return [self.predict(item) for item in items]


module = types.ModuleType("coremltools.libcoremlpython")
module._MLModelProxy = Proxy
for name in (
    "_MLComputePlanProxy", "_MLModelAssetProxy", "_MLCPUComputeDeviceProxy",
    "_MLGPUComputeDeviceProxy", "_MLNeuralEngineComputeDeviceProxy",
):
    setattr(module, name, type(name, (), {}))
sys.modules["coremltools.libcoremlpython"] = module

import coremltools  # noqa: E402
import coremltools._deps  # noqa: E402
from coremltools.models import model  # noqa: E402

# The helpers of the tests predict only where this says so; they read it when they are imported.
coremltools._deps._IS_MACOS = True

for place in [place for name, place in sys.modules.items() if name.startswith("coremltools")]:
    for name, answer in [("_is_macos", True), ("_macos_version", (15, 0))]:
        if hasattr(place, name):
            setattr(place, name, lambda answer=answer: answer)
model._MLModelProxy = Proxy
