"""Tests of the Python package: python -m unittest discover -s Tests/Python

Expected values follow from what the models of Fixtures/library compute.
"""

import copy
import gc
import math
import multiprocessing
import os
import pickle
import shutil
import signal
import tempfile
import threading
import unittest
import warnings

import numpy as np
import PIL.Image

import assay

FIXTURES = os.path.join(os.path.dirname(__file__), "../../Fixtures/library")
NUMBERS = np.array([[0, 1, -1], [0.5, 100, -0.25]], np.float32)


def load(name, **options):
    return assay.load(os.path.join(FIXTURES, name), **options)


class Description(unittest.TestCase):
    def test_features(self):
        model = load("line.mlmodel")
        self.assertEqual(model.type, "neuralNetwork")
        x = model.inputs["x"]
        self.assertEqual((x.kind, x.dtype, x.shape), ("array", np.float32, (2, 3)))
        self.assertEqual(x.description, "any numbers")
        self.assertEqual(list(model.outputs), ["y"])
        self.assertEqual(model.states, {})
        self.assertEqual(load("color.mlmodel").inputs["image"].shape, (2, 4, 3))


class Arrays(unittest.TestCase):
    def setUp(self):
        self.model = load("line.mlmodel", threads=1)

    def line(self, x):
        return self.model.predict({"x": x})["y"]

    def test_every_form(self):
        wide = np.zeros((2, 6), np.float32)
        wide[:, ::2] = NUMBERS
        for x in (
            NUMBERS, NUMBERS.astype(np.float64), NUMBERS.astype(np.float16),
            NUMBERS.astype(">f4"), np.asfortranarray(NUMBERS), wide[:, ::2],
            NUMBERS[::-1].copy()[::-1], NUMBERS.tolist(),
        ):
            np.testing.assert_array_equal(self.line(x), 2 * NUMBERS + 1)
        whole = np.array([[1, 2, 3], [4, 5, 6]])
        for type in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
            x = whole.astype(type)
            np.testing.assert_array_equal(self.line(x), 2.0 * x + 1)

    def test_outputs_outlive_the_model(self):
        outputs = [load("line.mlmodel").predict({"x": NUMBERS + i})["y"] for i in range(100)]
        gc.collect()
        for i, y in enumerate(outputs):
            np.testing.assert_array_equal(y, 2 * (NUMBERS + i) + 1)

    def test_errors(self):
        with self.assertRaisesRegex(assay.AssayError, "missing.mlmodel: "):
            assay.load("missing.mlmodel")
        with self.assertRaisesRegex(RuntimeError, r"no input 'z'\nhint: its inputs are x"):
            self.model.predict({"z": NUMBERS})
        with self.assertRaisesRegex(assay.AssayError, r"shape \[6\] does not match"):
            self.line(np.zeros(6))
        with self.assertRaisesRegex(TypeError, "x: values of type complex128"):
            self.line(np.zeros((2, 3), complex))
        with self.assertRaisesRegex(ValueError, "layout is 'nchw'"):
            load("line.mlmodel", layout="nchw")
        with self.assertRaisesRegex(assay.AssayError, "no states"):
            self.model.make_state()

    def test_threads(self):
        wrong = []

        def predict():
            for i in range(50):
                if not np.array_equal(self.line(NUMBERS + i), 2 * (NUMBERS + i) + 1):
                    wrong.append(i)

        threads = [threading.Thread(target=predict) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Images(unittest.TestCase):
    def test_classes(self):
        model = load("color.mlmodel")
        pixels = np.zeros((2, 4, 3), np.uint8)
        pixels[1, 2, 0] = 255
        # The means are 1/8, 0 and 0.
        red = math.exp(1 / 8) / (math.exp(1 / 8) + 2)
        for image in (PIL.Image.fromarray(pixels), PIL.Image.fromarray(pixels).convert("RGBA"), pixels):
            outputs = model.predict({"image": image})
            self.assertEqual(outputs["best"], "red")
            self.assertAlmostEqual(outputs["color"]["red"], red, places=6)
            self.assertAlmostEqual(outputs["color"]["blue"], (1 - red) / 2, places=6)
        with self.assertRaisesRegex(assay.AssayError, "image: .*\n.*the option resize squash"):
            model.predict({"image": PIL.Image.new("RGB", (5, 2))})

    def test_resizing(self):
        """A red square for a model that takes images twice as wide as high: bars make half of it black."""
        red = PIL.Image.new("RGB", (40, 40), "red")
        for resize, mean in (("fit", 0.5), ("squash", 1), ("center-crop", 1)):
            model = load("color.mlmodel", resize=resize)
            for image in (red, np.asarray(red), np.asarray(red)[::-1, ::-1]):
                outputs = copy.copy(model).predict({"image": image})
                self.assertAlmostEqual(
                    outputs["color"]["red"], math.exp(mean) / (math.exp(mean) + 2), places=6)
        with self.assertRaisesRegex(assay.AssayError, "unknown resize 'wide'"):
            load("color.mlmodel", resize="wide")


class States(unittest.TestCase):
    def test_sum(self):
        model = load("sum.mlmodel")
        self.assertEqual(list(model.states), ["sum_in"])
        state = model.make_state()
        sums = [model.predict({"x": [3]}, state)["y"].item() for _ in range(3)]
        self.assertEqual(sums, [3, 6, 9])
        self.assertEqual(model.predict({"x": [3]})["y"].item(), 3)
        self.assertEqual(state.read("sum_in").item(), 9)
        state.write("sum_in", [40])
        self.assertEqual(model.predict({"x": [3]}, state)["y"].item(), 43)
        with self.assertRaisesRegex(assay.AssayError, "no state 'x'"):
            state.read("x")

    def test_program(self):
        """s ← s + x, y = 2 s, with s in half precision."""
        model = load("../programs/states.mlpackage")
        feature = model.states["s"]
        self.assertEqual((feature.kind, feature.dtype, feature.shape), ("array", np.float16, (3,)))
        x = np.array([1, 2, -0.5], np.float32)
        state = model.make_state()
        np.testing.assert_array_equal(state.read("s"), np.zeros(3, np.float16))
        for step in (1, 2, 3):
            np.testing.assert_array_equal(model.predict({"x": x}, state)["y"], 2 * step * x)
        with self.assertWarnsRegex(assay.AssayWarning, "no state was given") as caught:
            np.testing.assert_array_equal(model.predict({"x": x})["y"], 2 * x)
        self.assertEqual(caught.filename, __file__)
        self.assertEqual(state.read("s").dtype, np.float16)
        np.testing.assert_array_equal(state.read("s"), 3 * x)
        state.write("s", [10, 20, 30])
        np.testing.assert_array_equal(model.predict({"x": x}, state)["y"], [22, 44, 59])
        for value in ([1, 2], [[1, 2, 3]], 1, "ten", {"a": 1}):
            with self.assertRaisesRegex(assay.AssayError, r"s: .* does not have its shape \[3\]"):
                state.write("s", value)
        np.testing.assert_array_equal(model.predict({"x": x}, state)["y"], [24, 48, 58])

    def test_recurrent_layer(self):
        state = load("sum.mlmodel").make_state()
        for value in ([1, 2], "ten"):
            with self.assertRaisesRegex(assay.AssayError, "sum_in: "):
                state.write("sum_in", value)


class Functions(unittest.TestCase):
    def test_functions(self):
        """square, the default, and triple."""
        path = "../programs/functions.mlpackage"
        x = np.arange(4, dtype=np.float32)
        for options in ({}, {"function": "square"}):
            np.testing.assert_array_equal(load(path, **options).predict({"x": x})["y"], x**2)
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(load(path, function="triple").predict({"x": x})["z"], 3 * x)
        with self.assertRaisesRegex(assay.AssayError, "no function 'cube'"):
            load(path, function="cube")
        with self.assertRaisesRegex(assay.AssayError, "the model has no functions"):
            load("line.mlmodel", function="main")


class Copies(unittest.TestCase):
    def check(self, model):
        np.testing.assert_array_equal(model.predict({"x": NUMBERS})["y"], 2 * NUMBERS + 1)

    def test_model(self):
        model = load("line.mlmodel", threads=1, layout="coreml")
        for copied in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            self.assertIsNot(copied, model)
            self.check(copied)
            del copied
            gc.collect()
        self.check(model)

    def test_another_folder(self):
        here = os.getcwd()
        try:
            os.chdir(FIXTURES)
            data = pickle.dumps(assay.load("line.mlmodel"))
            os.chdir("/")
            self.check(pickle.loads(data))
        finally:
            os.chdir(here)

    def test_options(self):
        model = load("../programs/functions.mlpackage", function="triple")
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(copy.copy(model).predict({"x": x})["z"], 3 * x)

    def test_bytes(self):
        with open(os.path.join(FIXTURES, "line.mlmodel"), "rb") as file:
            content = file.read()
        model = assay.load(content)
        self.check(model)
        self.check(pickle.loads(pickle.dumps(model)))
        with self.assertRaisesRegex(assay.AssayError, "^the bytes: "):
            assay.load(content[:-1])

    def test_missing_file(self):
        with open(os.path.join(FIXTURES, "line.mlmodel"), "rb") as file:
            content = file.read()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "gone.mlmodel")
            with open(path, "wb") as file:
                file.write(content)
            data = pickle.dumps(assay.load(path))
        with self.assertRaisesRegex(assay.AssayError, "gone.mlmodel: "):
            pickle.loads(data)

    def test_others(self):
        """Handles are not copied; arrays and descriptions are."""
        model = load("sum.mlmodel")
        state = model.make_state()
        outputs = model.predict({"x": [3]}, state)
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "states cannot be copied or pickled"):
                copied(state)
        del model, state
        kept = pickle.loads(pickle.dumps(outputs))
        self.assertEqual(copy.deepcopy(outputs)["y"].item(), 3)
        del outputs
        gc.collect()
        self.assertEqual(kept["y"].item(), 3)
        inputs = load("line.mlmodel").inputs
        self.assertEqual(pickle.loads(pickle.dumps(inputs)), inputs)


WIDE = np.arange(1 << 18, dtype=np.float32) % 1000


def predict_wide(model):
    return bool(np.array_equal(model.predict({"x": WIDE})["y"], 2 * WIDE + 1))


def predict_global(_):
    return predict_wide(Forks.model)


@unittest.skipUnless(hasattr(os, "fork"), "no fork")
class Forks(unittest.TestCase):
    """A model that several threads compute, used by child processes."""

    @classmethod
    def setUpClass(cls):
        # A runner of tests may have blocked those with which a pool ends its workers.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        cls.model = load("wide.mlmodel", threads=3)
        assert predict_wide(cls.model)

    def test_prefork_server(self):
        """Workers answer requests from one pipe with the model that their parent has loaded."""
        (requests, to_workers), (answers, from_workers) = os.pipe(), os.pipe()
        workers = []
        for _ in range(2):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                while os.read(requests, 1) == b"p":
                    os.write(from_workers, b"y" if predict_wide(self.model) else b"n")
                os._exit(0)
            workers.append(child)
        os.write(to_workers, b"p" * 8)
        os.write(to_workers, b"ee")
        self.assertEqual([os.waitpid(worker, 0)[1] for worker in workers], [0, 0])
        self.assertEqual(os.read(answers, 100), b"y" * 8)
        self.assertTrue(predict_wide(self.model))

    def test_pool(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map_async(predict_global, range(6)).get(60), [True] * 6)
            # The model is pickled.
            self.assertEqual(pool.map_async(predict_wide, [self.model] * 2).get(60), [True] * 2)

    def test_while_threads_predict(self):
        done = threading.Event()
        wrong = []

        def predict():
            while not done.is_set():
                if not predict_wide(self.model):
                    wrong.append(1)

        threads = [threading.Thread(target=predict) for _ in range(2)]
        for thread in threads:
            thread.start()
        statuses = []
        for _ in range(5):
            with warnings.catch_warnings():
                # Python warns of a fork with threads.
                warnings.simplefilter("ignore")
                child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(0 if predict_wide(self.model) else 1)
            statuses.append(os.waitpid(child, 0)[1])
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual((statuses, wrong), ([0] * 5, []))


class Warnings(unittest.TestCase):
    def test_values(self):
        x = np.array([[1, np.nan, 2], [np.nan, 3, 4]], np.float32)
        model = load("line.mlmodel")
        with self.assertWarnsRegex(assay.AssayWarning, "output 'y': 2 values of 6 are NaN") as caught:
            model.predict({"x": x})
        self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict({"x": NUMBERS})

    def test_model(self):
        """An unknown field after the end of the known ones: number 9999, and a 1."""
        with open(os.path.join(FIXTURES, "line.mlmodel"), "rb") as file:
            content = file.read() + bytes([0xF8, 0xF0, 0x04, 1])
        with self.assertWarnsRegex(assay.AssayWarning, "9999") as caught:
            assay.load(content)
        self.assertEqual(caught.filename, __file__)


class Hints(unittest.TestCase):
    def test_options(self):
        """They name what a caller can set, and whose options the others are."""
        model = load("../keras/layers/k3/activation_relu.keras")
        name = next(iter(model.inputs))
        with self.assertRaises(assay.AssayError) as caught:
            model.predict({name: np.zeros((1, 1, 1, 1, 1, 1, 1))})
        self.assertNotIn("--", str(caught.exception))
        self.assertIn("the option layout", str(caught.exception))
        with self.assertRaises(assay.AssayError) as caught:
            model.predict({})
        self.assertNotIn("NAME=FILE", str(caught.exception))


class Layouts(unittest.TestCase):
    def test_keras(self):
        """Shape and layout are those of the array that Keras took."""
        for name in ("locally_connected_2d_1", "up_sampling_bilinear", "network_3d"):
            with self.subTest(name):
                self.check(os.path.join(FIXTURES, "../keras/layers/tf2", name))

    def check(self, path):
        model = assay.load(path + ".h5")
        with np.load(path + ".inputs.npz") as inputs, np.load(path + ".expected.npz") as expected:
            (x,), (y,) = inputs.values(), expected.values()
        ((name, input),), ((_, output),) = model.inputs.items(), model.outputs.items()
        for feature, array in ((input, x), (output, y)):
            self.assertEqual(feature.shape, array.shape)
            self.assertEqual(len(feature.layout), len(feature.shape))
        (value,) = model.predict({name: x}).values()
        self.assertEqual(value.shape, y.shape)


DEMO = os.path.join(FIXTURES, "../demo")


class Commands(unittest.TestCase):
    """A network with a Lambda layer, and what Keras computes of an image."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.network = os.path.join(DEMO, "swish.h5")
        self.image = PIL.Image.open(os.path.join(DEMO, "picture.png"))
        with np.load(os.path.join(DEMO, "expected.npz")) as arrays:
            self.expected = dict(arrays)

    def path(self, name):
        return os.path.join(self.folder, name)

    def convert(self, **options):
        return assay.convert(
            self.network, lambda_="auto", input_name="image", image_input=["image"], output_name="color",
            image_scale=1 / 127.5, image_mean=(1, 1, 1), **options)

    def check(self, model):
        (color,) = model.predict({"image": self.image}).values()
        np.testing.assert_allclose(color.ravel(), self.expected["color"].ravel(), rtol=1e-4, atol=1e-5)

    def test_convert(self):
        self.check(self.convert())
        model = self.convert(
            output=self.path("out.mlmodel"), metadata={"author": "A. B.", "license": "none"},
            inputs={"image": self.image}, expected=self.expected)
        self.check(model)
        self.assertEqual(assay.inspect(model)["metadata"]["author"], "A. B.")
        self.assertEqual(self.convert(labels=["a", "b", "c"]).type, "neuralNetworkClassifier")

    def test_network_in_memory(self):
        """Whatever saves itself to a `.keras` file, as Keras's models do."""
        class Network:
            def save(self, path):
                self.ending = path[-6:]
                shutil.copy(os.path.join(FIXTURES, "../keras/layers/k3/activation_relu.keras"), path)

        network = Network()
        (output,) = assay.convert(network).outputs
        self.assertTrue(output)
        self.assertEqual(network.ending, ".keras")

    def test_save(self):
        self.convert().save(self.path("copy.mlmodel"))
        self.check(assay.load(self.path("copy.mlmodel")))
        load("line.mlmodel").save(self.path("program.mlpackage"), target="iOS16")
        program = assay.load(self.path("program.mlpackage"))
        self.assertEqual(program.type, "mlProgram")
        np.testing.assert_array_equal(program.predict({"x": NUMBERS})["y"], 2 * NUMBERS + 1)
        program.save(self.path("copy.mlpackage"))
        assay.load(self.path("copy.mlpackage"))
        with open(os.path.join(FIXTURES, "../keras/layers/tf2/network_3d.h5"), "rb") as file:
            assay.load(file.read()).save(self.path("bytes.mlmodel"))
        assay.load(self.path("bytes.mlmodel"))

    def test_onnx(self):
        """Written by `convert` and `save`, for other programs; options that only ONNX has."""
        self.assertIsNone(self.convert(output=self.path("color.onnx"), opset=15))
        load("line.mlmodel").save(self.path("line.onnx"), external_data=True)
        for name, output in ("color.onnx", b"color"), ("line.onnx", b"y"):
            with open(self.path(name), "rb") as file:
                self.assertIn(output, file.read())

    def test_options_of_networks(self):
        """Source files of layers, and settings of detectors by name."""
        with self.assertRaisesRegex(assay.AssayError, "missing.py"):
            assay.convert(self.network, layer_source=[self.path("missing.py")])
        model = self.convert(detect="yolov3", detector={"threshold": 0.5, "anchors": (1, 2, 3, 4)})
        metadata = assay.inspect(model)["metadata"]
        self.assertEqual(metadata["assay.detect.threshold"], "0.5")
        self.assertEqual(metadata["assay.detect.anchors"], "1,2,3,4")

    def test_diff(self):
        model = self.convert()
        result = assay.diff(model, {"image": self.image}, expected=self.expected)
        self.assertEqual((result["matches"], result["outputs"][0]["name"]), (True, "color"))
        wrong = {"color": self.expected["color"] + 0.5}
        result = assay.diff(model, os.path.join(DEMO, "picture.png"), expected=wrong)
        self.assertFalse(result["matches"])
        self.assertAlmostEqual(result["outputs"][0]["largestAbsoluteError"], 0.5, places=4)
        self.assertTrue(
            assay.diff(load("line.mlmodel"), {"x": NUMBERS}, expected={"y": 2 * NUMBERS + 1})["matches"])
        self.assertTrue(assay.diff(load("line.mlmodel"), load("line.mlmodel"), rtol=0)["matches"])

    def test_compress(self):
        small = assay.compress(self.convert(), bits=8, output=self.path("small.mlmodel"))
        self.assertLess(small.report["bytesAfter"], small.report["bytesBefore"])
        self.check(assay.compress(self.convert(), precision="float32"))
        self.assertIsNone(load("line.mlmodel").report)

    def test_inspect(self):
        found = assay.inspect(load("line.mlmodel"))
        self.assertEqual(found["layers"][0]["attributes"], {"linear": {"alpha": 2, "beta": 1}})
        shapes = assay.inspect(self.network, lambda_="auto", input_name="x", input_shape={"x": (None, 64, 64, 3)})
        self.assertEqual(shapes["inputs"][0]["name"], "x")

    def test_messages(self):
        """They name keyword arguments, and warnings the caller's line."""
        with self.assertRaisesRegex(assay.AssayError, "swish.h5: layer 'swish'.*\n.*lambda_ auto") as caught:
            assay.convert(self.network, lambda_="off")
        self.assertNotIn("--", str(caught.exception))
        with self.assertRaisesRegex(assay.AssayError, "invalid for 'target") as caught:
            assay.convert(self.network, target="iOS9")
        self.assertNotIn("--", str(caught.exception))
        with self.assertRaisesRegex(TypeError, r"diff\(\) got an unexpected keyword argument 'bits'"):
            assay.diff(self.network, self.network, bits=8)
        with open(os.path.join(FIXTURES, "line.mlmodel"), "rb") as file:
            content = file.read() + bytes([0xF8, 0xF0, 0x04, 1])
        with self.assertWarnsRegex(assay.AssayWarning, "^1: field 9999") as caught:
            assay.inspect(content)
        self.assertEqual(caught.filename, __file__)


class Owners(unittest.TestCase):
    def test_with(self):
        with load("sum.mlmodel") as model, model.make_state() as state:
            kept = model.predict({"x": [3]}, state)["y"]
        self.assertEqual(kept.item(), 3)
        for use in (lambda: model.predict({"x": [3]}), lambda: state.read("sum_in")):
            with self.assertRaisesRegex(assay.AssayError, "has been freed"):
                use()
        model.close()

    def test_batches(self):
        batch = [{"x": NUMBERS + i} for i in range(3)]
        for i, outputs in enumerate(load("line.mlmodel").predict(batch)):
            np.testing.assert_array_equal(outputs["y"], 2 * (NUMBERS + i) + 1)
        model = load("sum.mlmodel")
        steps = model.predict([{"x": [3]}] * 3, model.make_state())
        self.assertEqual([step["y"].item() for step in steps], [3, 6, 9])

    def test_table(self):
        text = load("line.mlmodel")._repr_html_()
        self.assertIn("<td>input</td><td>x</td><td>array</td><td>float32</td><td></td><td>2 × 3</td>", text)
        self.assertIn("any numbers", text)


if __name__ == "__main__":
    unittest.main()
