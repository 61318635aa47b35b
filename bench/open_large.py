#!/usr/bin/env python3
"""How long opening a checkpoint of a billion parameters takes, and how much memory is resident before the first token.

usage: bench/open_large.py [BINARY]      (default: build/release/hearth)

Writes a checkpoint of random 4-bit weights (0.7 GB) into a temporary folder, opens it five times with `hearth bench`,
which reads its own resident size after opening, and prints the median of the times and the largest size.
Limits: 100 ms, 60 MB; exit code 1 when one is missed.
"""
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_MS, LIMIT_MB, RUNS = 100, 60, 5


def main():
    binary = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/hearth")
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
        model = Path(folder) / "model"
        subprocess.run([binary, "make-checkpoint", "--preset", "llama-3.2-1b", "--bits", "4", model], check=True)
        command = [binary, "bench", "--model", model, "--prompt", "1", "--tokens", "1", "--repeat", "1", "--json"]
        runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(RUNS)]
    opened = statistics.median(run["open_seconds"] for run in runs) * 1e3
    resident = max(run["open_resident_bytes"] for run in runs) / 1e6
    print(f"opened in          {opened:6.1f} ms   (limit {LIMIT_MS})")
    print(f"resident at most   {resident:6.1f} MB   (limit {LIMIT_MB})")
    return 0 if opened <= LIMIT_MS and resident <= LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
