"""Compares the keyword arguments with the options of the program; needs no NumPy."""

import importlib.util
import json
import os
import subprocess
import sys
import unittest

PATH = os.path.join(os.path.dirname(__file__), "../../Sources/Python/assay/options.py")
_specification = importlib.util.spec_from_file_location("options", PATH)
table_of_options = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(table_of_options)


class Options(unittest.TestCase):
    def test_options(self):
        """The tables have every option of the program but those for terminals; repeated ones take lists."""
        beside = os.path.join(os.path.dirname(sys.executable), "assay")
        program = os.environ.get("ASSAY_PROGRAM", beside)
        text = subprocess.check_output([program, "--experimental-dump-help"])
        commands = {one["commandName"]: one for one in json.loads(text)["command"]["subcommands"]}
        for name in ("convert", "diff", "compress", "inspect"):
            table = getattr(table_of_options, name.capitalize() + "Options")
            options = {one["preferredName"]["name"]: one for one in commands[name]["arguments"]
                       if one["kind"] != "positional"}
            for other in ("help", "quiet", "json", "verbose", "dry-run", "spec", "plan", "color-output"):
                options.pop(other, None)
            if name in ("convert", "compress"):
                options.pop("output")
            types = {key.rstrip("_").replace("_", "-"): str(value)
                     for one in reversed(table.__mro__) if hasattr(one, "__annotations__")
                     for key, value in table.__annotations__.items()}
            self.assertEqual(set(types), set(options), name)
            for option, one in options.items():
                self.assertEqual(one["kind"] == "flag", "bool" in types[option], option)
                if one["isRepeating"]:
                    self.assertRegex(types[option], "Texts|Paths|Named|Numbers|Shapes|Any", option)


if __name__ == "__main__":
    unittest.main()
