"""What the end-to-end tests share: running the binary, and writing checkpoints that are wrong in one place.

Python's standard library only. The binary is named by the environment variable HEARTH_BINARY.
"""
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("HEARTH_BINARY", ROOT / "build/release/hearth"))
STORIES = ROOT / "models/starter-stories"
CHAT = ROOT / "models/starter-chat"
GOLDEN = ROOT / "tests/golden"


class Result:
    """Exit code, output bytes as text, and the largest resident size of one run."""

    def __init__(self, code, out, err, peak_bytes):
        self.code, self.out, self.err, self.peak_bytes = code, out, err, peak_bytes

    def __str__(self):
        return f"exit code {self.code}\n-- stdout --\n{self.out[:2000]}\n-- stderr --\n{self.err[:2000]}"


def hearth(*arguments, stdin=b"", timeout=60, environment=None):
    """Runs the binary with an environment of its own, so that no setting of the user's reaches it."""
    with tempfile.TemporaryDirectory(prefix="hearth-e2e-") as home, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:
        env = {"PATH": os.environ["PATH"], "HOME": home, "HEARTH_HOME": home, "LC_ALL": "C.UTF-8",
               **(environment or {})}
        process = subprocess.Popen([BINARY, *arguments], stdin=subprocess.PIPE, stdout=out, stderr=err, env=env)
        try:
            process.stdin.write(stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass
        pid, status, usage = wait_for(process, timeout)
        out.seek(0)
        err.seek(0)
        return Result(os.waitstatus_to_exitcode(status), out.read().decode("utf-8", "replace"),
                      err.read().decode("utf-8", "replace"), usage.ru_maxrss * 1024)


def wait_for(process, timeout):
    """wait4 with a limit: a run that hangs is killed and shows as exit code -9."""
    import threading
    timer = threading.Timer(timeout, process.kill)
    timer.start()
    try:
        result = os.wait4(process.pid, 0)
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(result[1])
    return result


def read_safetensors(path):
    """Returns (header as a dictionary, data bytes)."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    return json.loads(raw[8:8 + size]), raw[8 + size:]


def write_safetensors(path, header, data):
    """Writes the header as it is given (a dictionary, or bytes), true or not."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hearth-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def copy_of(self, model=STORIES):
        """A writable copy of a checkpoint folder."""
        copy = self.folder / f"model-{len(list(self.folder.iterdir()))}"
        shutil.copytree(model, copy)
        return copy

    def edit_json(self, path, change):
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value))

    def check_ok(self, result):
        self.assertEqual(result.code, 0, str(result))
        return result

    def check_refused(self, result, *words, code=2):
        """One message on stderr that holds all the words; nothing on stdout."""
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(result.out, "", str(result))
        messages = [line for line in result.err.splitlines()
                    if line.startswith("hearth: error: ")]
        self.assertEqual(len(messages), 1, f"one message expected\n{result}")
        self.assertNotIn("internal", messages[0])
        for word in words:
            self.assertIn(word.lower(), result.err.lower(), str(result))
        return result
