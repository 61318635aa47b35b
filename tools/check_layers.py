#!/usr/bin/env python3
"""Checks the includes between the folders of src/ against layers.txt.

usage: tools/check_layers.py [--rules layers.txt] [--src src]

Reports every #include of a folder that the including folder may not use, every folder of src/ without a line in the
rules, rules that name unknown folders or form a cycle, includes by relative path, and #include of a .cpp file.
Exit code 0: clean, 1: findings, 2: the rules can't be read.
"""
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE_SUFFIXES = {".h", ".cpp", ".inc"}
QUOTED_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
ANY = "*"


def read_rules(path):
    """Returns {folder: set of folders it may include}."""
    rules = {}
    for number, raw in enumerate(path.read_text().splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        folder, colon, allowed = line.partition(":")
        if not colon or folder.strip() in rules:
            sys.exit(f"{path}:{number}: expected one line 'folder : folders' per folder")
        rules[folder.strip()] = set(allowed.split())
    return rules


def rule_faults(rules):
    for folder, allowed in rules.items():
        for other in sorted(allowed - {ANY} - set(rules)):
            yield f"layers.txt: {folder} names {other}, which has no line of its own"
    # Folders whose allowed folders are all settled are settled too; what is left over lies on a cycle.
    settled = set()
    while True:
        ready = {f for f, allowed in rules.items() if f not in settled and allowed - {ANY} <= settled}
        if not ready:
            break
        settled |= ready
    for folder in sorted(set(rules) - settled):
        yield f"layers.txt: {folder} is part of a cycle or lies above one"


def include_faults(rules, src):
    for folder in sorted(p for p in src.iterdir() if p.is_dir()):
        if folder.name not in rules:
            yield f"{folder}: no line in layers.txt"
            continue
        allowed = rules[folder.name] | {folder.name}
        for file in sorted(p for p in folder.rglob("*") if p.suffix in SOURCE_SUFFIXES):
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                match = QUOTED_INCLUDE.match(line)
                if not match:
                    continue
                target = match[1]
                top = target.split("/")[0]
                where = f"{file}:{number}"
                if target.startswith("."):
                    yield f'{where}: include "{target}" from src/, not by relative path'
                elif target.endswith(".cpp"):
                    yield f"{where}: includes a .cpp file"
                elif top in rules and top not in allowed and ANY not in allowed:
                    yield f"{where}: {folder.name}/ may not include {top}/ (layers.txt)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", type=Path, default=ROOT / "layers.txt")
    parser.add_argument("--src", type=Path, default=ROOT / "src")
    options = parser.parse_args()
    if not options.rules.is_file() or not options.src.is_dir():
        print(f"needs {options.rules} and {options.src}", file=sys.stderr)
        return 2
    rules = read_rules(options.rules)
    faults = [*rule_faults(rules), *include_faults(rules, options.src)]
    for fault in faults:
        print(fault)
    print(f"layers: {len(faults)} findings" if faults else f"layers: {len(rules)} folders, no findings")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
