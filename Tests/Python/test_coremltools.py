"""Tests of coremltools over the package."""

import os
import shutil
import tempfile
import unittest

import numpy as np
import PIL.Image

try:
    import assay.coremltools
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import types
except ModuleNotFoundError as error:
    if error.name != "coremltools":
        raise
    raise unittest.SkipTest("coremltools is not installed")

FIXTURES = os.path.join(os.path.dirname(__file__), "../../Fixtures/library")


def package(name, folder):
    """A copy of a package with its empty folder of weights, which Git does not keep."""
    path = os.path.join(folder, name)
    shutil.copytree(os.path.join(FIXTURES, "../programs", name), path)
    os.makedirs(os.path.join(path, "Data/com.apple.CoreML/weights"), exist_ok=True)
    return path


class Predictions(unittest.TestCase):
    def test_network(self):
        model = ct.models.MLModel(os.path.join(FIXTURES, "line.mlmodel"))
        x = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
        np.testing.assert_array_equal(model.predict({"x": x})["y"], 2 * x + 1)
        with self.assertRaisesRegex(RuntimeError, "does not match"):
            model.predict({"x": x.T})

    def test_batch_and_image(self):
        model = ct.models.MLModel(os.path.join(FIXTURES, "color.mlmodel"))
        colors = ["red", "green", "blue"]
        images = [{"image": PIL.Image.new("RGB", (4, 2), color)} for color in colors]
        self.assertEqual([answer["best"] for answer in model.predict(images)], ["red", "green", "blue"])

    def test_compiled_model(self):
        model = ct.models.MLModel(os.path.join(FIXTURES, "line.mlmodel"))
        compiled = ct.models.CompiledMLModel(model.get_compiled_model_path())
        answer = compiled.predict({"x": np.ones((2, 3), np.float32)})
        np.testing.assert_array_equal(answer["y"], np.full((2, 3), 3))
        with self.assertRaisesRegex(RuntimeError, "missing.mlmodelc: no such file"):
            ct.models.CompiledMLModel("missing.mlmodelc")

    def test_newest_target(self):
        """Specification 10, for int8 inputs."""
        @mb.program(input_specs=[mb.TensorSpec(shape=(2, 3))], opset_version=ct.target.iOS18)
        def program(x):
            return mb.add(x=x, y=1.0, name="y")

        model = ct.convert(
            program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS26,
            compute_precision=ct.precision.FLOAT32)
        self.assertEqual(model.get_spec().specificationVersion, 10)
        x = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
        np.testing.assert_array_equal(model.predict({"x": x})["y"], x + 1)
        self.assertEqual(ct.utils._macos_version(), (26, 0))

    def test_conversion(self):
        @mb.program(input_specs=[mb.TensorSpec(shape=(2, 3))])
        def program(x):
            return mb.add(x=mb.mul(x=x, y=2.0), y=1.0, name="y")

        x = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
        for form in ("neuralnetwork", "mlprogram"):
            model = ct.convert(program, convert_to=form)
            np.testing.assert_array_equal(model.predict({"x": x})["y"], 2 * x + 1)

    def test_whole_numbers(self):
        """coremltools' own tests give fractions to inputs that are declared as int32."""
        @mb.program(input_specs=[mb.TensorSpec(shape=(2,), dtype=types.int32)])
        def program(x):
            return mb.add(x=x, y=1, name="y")

        model = ct.convert(program, minimum_deployment_target=ct.target.iOS16)
        with self.assertWarnsRegex(assay.AssayWarning, "x: declared as int32"):
            y = model.predict({"x": np.array([0.7, -2.2])})["y"]
        np.testing.assert_array_equal(y, [1, -1])
        np.testing.assert_array_equal(model.predict({"x": np.array([3.0, 4.0])})["y"], [4, 5])

    def test_states(self):
        """s ← s + x, y = 2 s."""
        with tempfile.TemporaryDirectory() as folder:
            model = ct.models.MLModel(package("states.mlpackage", folder))
        x = np.array([1, 2, -0.5], np.float32)
        state = model.make_state()
        for step in (1, 2, 3):
            np.testing.assert_array_equal(model.predict({"x": x}, state=state)["y"], 2 * step * x)
        np.testing.assert_array_equal(state.read_state("s"), 3 * x)
        state.write_state("s", np.array([10, 20, 30], np.float16))
        np.testing.assert_array_equal(model.predict({"x": x}, state=state)["y"], [22, 44, 59])

    def test_functions(self):
        """square, the default, and triple."""
        with tempfile.TemporaryDirectory() as folder:
            path = package("functions.mlpackage", folder)
            square = ct.models.MLModel(path)
            triple = ct.models.MLModel(path, function_name="triple")
        x = np.arange(4, dtype=np.float32)
        np.testing.assert_array_equal(square.predict({"x": x})["y"], x**2)
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(triple.predict({"x": x})["z"], 3 * x)

    def test_models_from_memory(self):
        """W has 500 ones in each row, so that each output is 500."""
        @mb.program(input_specs=[mb.TensorSpec(shape=(4, 500))])
        def program(x):
            return mb.linear(x=x, weight=np.ones((100, 500), np.float32), name="y")

        for form in ("neuralnetwork", "mlprogram"):
            model = ct.convert(program, convert_to=form)
            blobs = {}
            if form == "mlprogram":
                with open(os.path.join(model.weights_dir, "weight.bin"), "rb") as file:
                    blobs["weights/weight.bin"] = file.read()
            asset = ct.models.model.MLModelAsset.from_memory(
                model.get_spec().SerializeToString(), blobs)
            compiled = ct.models.CompiledMLModel.from_asset(asset)
            answer = compiled.predict({"x": np.ones((4, 500), np.float32)})
            np.testing.assert_array_equal(answer["y"], np.full((4, 100), 500))
            asset = ct.models.model.MLModelAsset.from_path(model.get_compiled_model_path())
            compiled = ct.models.CompiledMLModel.from_asset(asset)
            answer = compiled.predict({"x": np.ones((4, 500), np.float32)})
            np.testing.assert_array_equal(answer["y"], np.full((4, 100), 500))
        with self.assertRaisesRegex(RuntimeError, "not a path inside a package"):
            ct.models.model.MLModelAsset.from_memory(b"", {"../weight.bin": b""})

    def test_devices(self):
        from coremltools.models.compute_device import MLComputeDevice, MLCPUComputeDevice

        for devices in (
            MLComputeDevice.get_all_compute_devices(),
            ct.models.MLModel.get_available_compute_devices(),
        ):
            self.assertEqual([type(device) for device in devices], [MLCPUComputeDevice])

    def test_what_is_not_supported(self):
        from coremltools.models.compute_plan import MLComputePlan, MLModelStructure

        model = ct.models.MLModel(os.path.join(FIXTURES, "line.mlmodel"))
        for load in (MLComputePlan.load_from_path, MLModelStructure.load_from_path):
            with self.assertRaisesRegex(NotImplementedError, "assay.coremltools does not support"):
                load(model.get_compiled_model_path())

    def test_options(self):
        self.addCleanup(assay.coremltools.configure)
        assay.coremltools.configure(threads=1)
        model = ct.models.MLModel(os.path.join(FIXTURES, "line.mlmodel"))
        self.assertEqual(model.predict({"x": np.ones((2, 3), np.float32)})["y"][0, 0], 3)
        assay.coremltools.configure(plugins=["missing.so"])
        with self.assertWarnsRegex(RuntimeWarning, "missing.so"):
            ct.models.MLModel(os.path.join(FIXTURES, "line.mlmodel"))


if __name__ == "__main__":
    unittest.main()
