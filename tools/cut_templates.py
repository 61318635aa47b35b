#!/usr/bin/env python3
"""Copies template goldens from the reference data beside the project into tests/golden/{templates,jinja}.

  tools/cut_templates.py [../shared/data]

Takes every template, context, recorded rendering and snippet, writes the JSON without white space, keeps origin and
licence of each template in index.json, and refuses to pass 1.5 MB.
"""
import json
import pathlib
import shutil
import sys

LIMIT_BYTES = 1_500_000
root = pathlib.Path(__file__).resolve().parent.parent
data = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root.parent / "shared" / "data"


def compact(source, target):
    value = json.loads(source.read_text(encoding="utf-8"))
    target.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


templates = root / "tests/golden/templates"
snippets = root / "tests/golden/jinja"
for folder in (templates, snippets):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.suffix in (".jinja", ".json"):
            old.unlink()
for source in sorted((data / "chat_templates").iterdir()):
    if source.suffix == ".jinja":
        shutil.copyfile(source, templates / source.name)
    elif source.suffix == ".json":
        compact(source, templates / source.name)
compact(data / "jinja/snippets.json", snippets / "snippets.json")
total = sum(f.stat().st_size for folder in (templates, snippets) for f in folder.iterdir())
print(f"{total} bytes in {templates} and {snippets}")
if total > LIMIT_BYTES:
    sys.exit(f"more than {LIMIT_BYTES} bytes: leave some out")
