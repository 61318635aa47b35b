#!/usr/bin/env python3
"""Cuts the reference data that travels with the project out of the full set that may lie beside it.

usage: tools/cut_goldens.py [--from ../shared] [--check]

Writes tests/golden/models (checkpoints with the reference's logits), tests/golden/ops, tests/golden/train,
tests/golden/starters and models/starter-*. --check writes nothing and exits with 1 if a file differs from what would
be written. Files are copied byte for byte; from golden.safetensors and golden.json the tensors that no code here reads
yet are left out, so that a clone stays small.
"""
import argparse
import json
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Every family, number type, RoPE variant, width and group size once; the same width and group in a second family only
# where the first does not have it.
MODELS = [
    "llama-bf16", "llama-minicpm5-like", "llama-sharded-llama3rope-bias-tied-kvq", "mistral",
    "qwen3-bf16", "qwen3-tied", "qwen3-untied-yarn",
    *(f"q-llama-affine-{kind}" for kind in (
        "b2-g32", "b2-g64", "b3-g32", "b3-g128", "b4-g64", "b4-g64-bf16", "b4-g64-f16", "b4-g128", "b5-g32", "b5-g64",
        "b6-g32", "b6-g128", "b8-g64", "b8-g128")),
    "q-llama-mixed-bits", "q-qwen3-affine-b4-g32", "q-qwen3-affine-b8-g32", "q-qwen3-mixed-bits",
]
OPS = ["quant", "rope", "norm_act", "sdpa"]
TRAIN = ["train-llama", "train-qwen3"]
STARTERS = {"starter-stories": "stories260K", "starter-chat": "stories260K-chat"}
STARTER_FILES = ["chat_template.jinja", "config.json", "generation_config.json", "model.safetensors",
                 "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"]


def read_safetensors(path):
    """Returns ({name: (dtype, shape, bytes)}, metadata)."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + size])
    metadata = header.pop("__metadata__", None)
    data = memoryview(raw)[8 + size:]
    return {name: (e["dtype"], e["shape"], bytes(data[slice(*e["data_offsets"])]))
            for name, e in header.items()}, metadata


def safetensors_bytes(tensors, metadata):
    header, chunks, offset = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(chunks)


def cut_golden(folder, keep):
    """Yields (file name, bytes) of golden.json and golden.safetensors with the tensors that keep(name) wants."""
    tensors, metadata = read_safetensors(folder / "golden.safetensors")
    kept = {name: value for name, value in tensors.items() if keep(name)}
    if kept.keys() == tensors.keys():
        yield "golden.safetensors", (folder / "golden.safetensors").read_bytes()
        yield "golden.json", (folder / "golden.json").read_bytes()
        return
    yield "golden.safetensors", safetensors_bytes(kept, metadata)
    golden = json.loads((folder / "golden.json").read_text())
    golden["tensors"] = {name: value for name, value in golden["tensors"].items() if name in kept}
    yield "golden.json", (json.dumps(golden, indent=1) + "\n").encode()


def plan(source):
    """Yields (target path below the root, bytes)."""
    for name in MODELS:
        folder = source / "goldens" / name
        for file in sorted(folder.iterdir()):
            if not file.name.startswith("golden."):
                yield f"tests/golden/models/{name}/{file.name}", file.read_bytes()
        for file, data in cut_golden(folder, lambda tensor: ".kv" not in tensor):
            yield f"tests/golden/models/{name}/{file}", data
    for name in OPS:
        for suffix in ("json", "safetensors"):
            yield f"tests/golden/ops/{name}.{suffix}", (source / "goldens/ops" / f"{name}.{suffix}").read_bytes()
    for name in TRAIN:
        folder = source / "goldens" / name
        for file in ("config.json", "model.safetensors", "model.safetensors.index.json"):
            yield f"tests/golden/train/{name}/{file}", (folder / file).read_bytes()
        for file, data in cut_golden(folder, lambda tensor: tensor.split(".")[0] in ("full", "sft", "base")):
            yield f"tests/golden/train/{name}/{file}", data
    for target, origin in STARTERS.items():
        folder = source / "models" / origin
        for file in STARTER_FILES:
            if (folder / file).is_file():
                yield f"models/{target}/{file}", (folder / file).read_bytes()
        yield f"tests/golden/starters/{target}/goldens.json", (folder / "goldens.json").read_bytes()
    folder = source / "models/stories260K-bf16"
    for file in [*STARTER_FILES, "goldens.json"]:
        if (folder / file).is_file():
            yield f"tests/golden/starters/stories-bf16/{file}", (folder / file).read_bytes()


def link_starters():
    """A golden folder holds its checkpoint too; the starters' is the one in models/."""
    for target in STARTERS:
        for file in sorted((ROOT / "models" / target).iterdir()):
            link = ROOT / "tests/golden/starters" / target / file.name
            if not link.is_symlink():
                link.symlink_to(Path("../../../../models") / target / file.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not (options.source / "goldens").is_dir():
        sys.exit(f"{options.source} has no folder goldens; name the reference data with --from")
    total = different = 0
    for name, data in plan(options.source):
        path = ROOT / name
        total += len(data)
        if path.is_file() and path.read_bytes() == data:
            continue
        different += 1
        if options.check:
            print(f"differs: {name}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    if not options.check:
        link_starters()
    print(f"{total / 1e6:.1f} MB in all; {different} files {'differ' if options.check else 'written'}")
    return 1 if options.check and different else 0


if __name__ == "__main__":
    sys.exit(main())
