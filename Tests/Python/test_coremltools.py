"""Tests of coremltools over the package."""

import os
import unittest

import numpy as np
import PIL.Image

try:
    import assay.coremltools
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb
except ModuleNotFoundError as error:
    if error.name != "coremltools":
        raise
    raise unittest.SkipTest("coremltools is not installed")

FIXTURES = os.path.join(os.path.dirname(__file__), "../../Fixtures/library")


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

    def test_conversion(self):
        @mb.program(input_specs=[mb.TensorSpec(shape=(2, 3))])
        def program(x):
            return mb.add(x=mb.mul(x=x, y=2.0), y=1.0, name="y")

        x = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
        for form in ("neuralnetwork", "mlprogram"):
            model = ct.convert(program, convert_to=form)
            np.testing.assert_array_equal(model.predict({"x": x})["y"], 2 * x + 1)


if __name__ == "__main__":
    unittest.main()
