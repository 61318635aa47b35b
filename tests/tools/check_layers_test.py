#!/usr/bin/env python3
"""tools/check_layers.py finds what it claims to find."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent.parent.parent / "tools/check_layers.py"
RULES = "base :\ncodec : base\nengine : base codec\ncli : *\n"


class CheckLayers(unittest.TestCase):
    def run_on(self, files, rules=RULES):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "layers.txt").write_text(rules)
            (root / "src").mkdir()
            for name, text in files.items():
                path = root / "src" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return subprocess.run([sys.executable, CHECK, "--rules", root / "layers.txt", "--src", root / "src"],
                                  capture_output=True, text=True)

    def check_finds(self, files, word, rules=RULES):
        result = self.run_on(files, rules)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(word, result.stdout)

    def test_allowed_includes_pass(self):
        result = self.run_on({"codec/a.cpp": '#include "codec/a.h"\n#include <vector>\n#include "base/error.h"\n',
                              "cli/main.cpp": '#include "engine/engine.h"\n#include "support/paths.h"\n'})
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_an_include_upwards_is_found_with_its_line(self):
        self.check_finds({"codec/a.h": '#pragma once\n#  include "engine/engine.h"\n'}, "a.h:2: codec/ may not include engine/")

    def test_a_kernel_body_counts_too(self):
        self.check_finds({"base/a.inc": '#include "codec/b.h"\n'}, "a.inc:1")

    def test_a_folder_without_a_rule_is_found(self):
        self.check_finds({"utilities/a.h": ""}, "no line in layers.txt")

    def test_relative_paths_and_cpp_files_are_found(self):
        self.check_finds({"codec/a.cpp": '#include "../base/b.h"\n'}, "relative path")
        self.check_finds({"codec/a.cpp": '#include "base/b.cpp"\n'}, ".cpp")

    def test_a_cycle_in_the_rules_is_found(self):
        self.check_finds({}, "cycle", "base : codec\ncodec : base\n")

    def test_a_rule_for_a_folder_that_is_not_listed_is_found(self):
        self.check_finds({}, "no line of its own", "base : media\n")


if __name__ == "__main__":
    unittest.main()
