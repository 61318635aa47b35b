#!/usr/bin/env python3
"""How long opening a checkpoint of a billion parameters takes, and how much memory is resident before the first token.

usage: bench/open_large.py [BINARY]      (default: build/release/hearth)

Writes a checkpoint of random 4-bit weights (0.7 GB) into a temporary folder, opens it five times with --max-tokens 0,
and prints the median of the times and the largest resident size. Limits: 100 ms, 60 MB; exit code 1 when one is missed.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_MS, LIMIT_MB, RUNS = 100, 60, 5


def run(command):
    """Returns (stderr, peak resident bytes)."""
    with tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        text = err.read().decode()
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}\n{text}")
    return text, usage.ru_maxrss * 1024


def main():
    binary = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/hearth")
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
        model = Path(folder) / "model"
        run([binary, "make-checkpoint", "--preset", "llama-3.2-1b", "--bits", "4", "--group", "64", model])
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(ROOT / "models/starter-stories" / name, model)
        gigabytes = sum(file.stat().st_size for file in model.iterdir()) / 1e9
        milliseconds, resident = [], 0
        for _ in range(RUNS):
            text, peak = run([binary, "generate", "Once upon a time", "--model", model, "--max-tokens", "0", "--raw"])
            milliseconds.append(float(re.search(r"opened in (\d+(?:\.\d+)?) ms", text)[1]))
            resident = max(resident, peak / 1e6)
    opened = statistics.median(milliseconds)
    print(f"llama-3.2-1b, 4 bits, {gigabytes:.2f} GB on disk")
    print(f"opened in          {opened:6.0f} ms   (limit {LIMIT_MS})")
    print(f"resident at most   {resident:6.0f} MB   (limit {LIMIT_MB})")
    return 0 if opened <= LIMIT_MS and resident <= LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
