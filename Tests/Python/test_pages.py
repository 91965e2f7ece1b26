"""Runs the code of docs/python.md as it is printed, with files of the names that it mentions."""

import contextlib
import importlib.util
import io
import os
import re
import shutil
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(__file__), "../..")
FILES = {
    "model.mlmodel": "library/line.mlmodel",
    "color.mlmodel": "library/color.mlmodel",
    "cat.png": "demo/picture.png",
    "model.h5": "demo/swish.h5",
    "expected.npz": "demo/expected.npz",
    "recurrent.mlmodel": "library/sum.mlmodel",
}


class Pages(unittest.TestCase):
    def test_blocks(self):
        with open(os.path.join(ROOT, "docs/python.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        self.assertEqual(len(blocks), 4)
        printed = [self.run_block(block) for block in blocks]
        self.assertRegex(printed[0], r"^\(2, 3\) .*Feature")
        self.assertRegex(printed[1], r"^True \d+ \d+\n$")
        # The sum of what the model has taken.
        self.assertEqual(printed[2], "[6.] [6.]\n")
        if printed[3] is not None:
            self.assertRegex(printed[3], r"y.*\[2\., 2\., 2\.\]")

    def run_block(self, block):
        if "coremltools" in block and not importlib.util.find_spec("coremltools"):
            return None
        here, output = os.getcwd(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            for name, fixture in FILES.items():
                shutil.copy(os.path.join(ROOT, "Fixtures", fixture), os.path.join(folder, name))
            os.chdir(folder)
            try:
                with contextlib.redirect_stdout(output):
                    exec(compile(block, "docs/python.md", "exec"), {})
            finally:
                os.chdir(here)
        return output.getvalue()


if __name__ == "__main__":
    unittest.main()
