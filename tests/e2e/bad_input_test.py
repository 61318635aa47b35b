#!/usr/bin/env python3
"""Bad input, end to end: one message that names file, field and remedy, exit code 2, little memory, nothing written."""
import json
import struct
import unittest

from hearth_cli import CHAT, STORIES, CliTest, hearth, read_safetensors, write_safetensors

# What a run may use beside twice the size of the files it was given; a template has a budget of its own.
BASE_BYTES = 64 << 20
TEMPLATE_BYTES = 160 << 20


class BadInput(CliTest):
    def refuse(self, folder, *words, budget=BASE_BYTES):
        result = hearth("generate", "Once", "--max-tokens", "2", "--model", folder)
        self.check_refused(result, *words)
        given = sum(file.stat().st_size for file in folder.iterdir())
        self.assertLessEqual(result.peak_bytes, budget + 2 * given, str(result))


class Weights(BadInput):
    def changed(self, change):
        """A copy of the starter whose weight file has the header that change(header) leaves."""
        folder = self.copy_of()
        header, data = read_safetensors(folder / "model.safetensors")
        header.pop("__metadata__", None)
        change(header)
        write_safetensors(folder / "model.safetensors", header, data)
        return folder

    def names(self, header):
        return sorted(header, key=lambda name: header[name]["data_offsets"][0])

    def test_truncated_file(self):
        folder = self.copy_of()
        file = folder / "model.safetensors"
        whole = file.read_bytes()
        for length in (len(whole) // 2, len(whole) - 1, 100, 8, 3, 0):
            with self.subTest(length=length):
                file.write_bytes(whole[:length])
                self.refuse(folder, "model.safetensors")

    def test_header_length_beyond_the_file_or_minus_one(self):
        folder = self.copy_of()
        file = folder / "model.safetensors"
        whole = file.read_bytes()
        for length in (2**64 - 1, 2**63, 2**40, len(whole), len(whole) - 7):
            with self.subTest(length=length):
                file.write_bytes(struct.pack("<Q", length) + whole[8:])
                self.refuse(folder, "model.safetensors", "header")

    def test_weights_that_are_not_numbers(self):
        folder = self.copy_of()
        header, data = read_safetensors(folder / "model.safetensors")
        write_safetensors(folder / "model.safetensors", header, struct.pack("<f", float("nan")) * (len(data) // 4))
        result = hearth("generate", "Once", "--max-tokens", "2", "--model", folder)
        self.assertEqual(result.code, 2, str(result))
        self.assertIn("no logit is a finite number", result.err)

    def test_an_activation_that_the_family_lacks(self):
        folder = self.copy_of()
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"hidden_act": "gelu"}))
        self.refuse(folder, "config.json", "hidden_act", "silu")

    def test_overlapping_tensors(self):
        def change(header):
            first, second = self.names(header)[:2]
            size = header[second]["data_offsets"][1] - header[second]["data_offsets"][0]
            begin = header[first]["data_offsets"][0]
            header[second]["data_offsets"] = [begin, begin + size]
        self.refuse(self.changed(change), "model.safetensors")

    def test_offsets_out_of_order(self):
        def change(header):
            offsets = header[self.names(header)[0]]["data_offsets"]
            offsets.reverse()
        self.refuse(self.changed(change), "model.safetensors")

    def test_offsets_beyond_the_file(self):
        def change(header):
            name = self.names(header)[-1]
            header[name]["data_offsets"] = [2**62, 2**62 + 1024]
        self.refuse(self.changed(change), "model.safetensors")

    def test_a_shape_whose_product_overflows(self):
        for shape in ([2**32, 2**32], [2**62, 4], [2**63 - 1, 2**63 - 1, 16], [-1, 64], [2**70]):
            with self.subTest(shape=shape):
                def change(header):
                    header["model.embed_tokens.weight"]["shape"] = shape
                self.refuse(self.changed(change), "model.safetensors", "model.embed_tokens.weight")

    def test_too_many_tensors(self):
        folder = self.copy_of()
        entries = ",".join(f'"t{i}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' for i in range(200_000))
        write_safetensors(folder / "model.safetensors", ("{" + entries + "}").encode(), b"")
        self.refuse(folder, "model.embed_tokens.weight", "200000")

    def test_a_deeply_nested_header(self):
        folder = self.copy_of()
        write_safetensors(folder / "model.safetensors", b'{"a":' + b"[" * 100_000, b"")
        self.refuse(folder, "model.safetensors")

    def test_missing_unexpected_and_misshapen_tensors_are_named(self):
        def missing(header):
            header["model.layers.0.mlp.elsewhere.weight"] = header.pop("model.layers.0.mlp.up_proj.weight")
        self.refuse(self.changed(missing), "model.layers.0.mlp.up_proj.weight")

        def misshapen(header):
            header["model.norm.weight"]["shape"] = [8, 8]
        self.refuse(self.changed(misshapen), "model.norm.weight")

    def test_a_number_type_that_is_not_supported(self):
        folder = self.copy_of()
        header, data = read_safetensors(folder / "model.safetensors")
        header.pop("__metadata__", None)
        name = self.names(header)[-1]
        begin, end = header[name]["data_offsets"]
        header[name]["dtype"] = "F8_E4M3"
        header[name]["data_offsets"] = [begin, begin + (end - begin) // 4]
        write_safetensors(folder / "model.safetensors", header, data[:begin + (end - begin) // 4])
        self.refuse(folder, name, "F8_E4M3")


class Config(BadInput):
    def edited(self, change, model=STORIES):
        folder = self.copy_of(model)
        self.edit_json(folder / "config.json", change)
        return folder

    def test_no_config(self):
        folder = self.copy_of()
        (folder / "config.json").unlink()
        self.refuse(folder, "config.json")

    def test_no_folder(self):
        self.check_refused(hearth("generate", "Once", "--model", self.folder / "nowhere"), "nowhere", "starter-stories")

    def test_no_weights(self):
        folder = self.copy_of()
        (folder / "model.safetensors").unlink()
        self.refuse(folder, "safetensors")

    def test_an_unsupported_model_type_lists_the_supported_ones(self):
        self.refuse(self.edited(lambda c: c.update(model_type="perceptron")), "model_type", "perceptron", "llama",
                    "qwen3")

    def test_custom_code_is_refused(self):
        self.refuse(self.edited(lambda c: c.update(model_file="model.py")), "model_file")

    def test_text_that_is_no_json(self):
        folder = self.copy_of()
        for text in (b"", b"{", b'{"model_type": "llama"', b"[" * 100_000, b"\xff\xfe{}", b"null", b"[]"):
            with self.subTest(text=text[:20]):
                (folder / "config.json").write_bytes(text)
                self.refuse(folder, "config.json")

    def test_numbers_that_make_no_model(self):
        for field, value in (("hidden_size", -64), ("hidden_size", 0), ("hidden_size", 2**62), ("hidden_size", "64"),
                             ("num_hidden_layers", 10**9), ("num_hidden_layers", -1), ("num_attention_heads", 0),
                             ("num_key_value_heads", 3), ("vocab_size", 2**40), ("rms_norm_eps", "small")):
            with self.subTest(field=field, value=value):
                self.refuse(self.edited(lambda c: c.update({field: value})), field)

    def test_a_missing_field_is_named(self):
        self.refuse(self.edited(lambda c: c.pop("hidden_size")), "hidden_size")


class Text(BadInput):
    def test_tokenizers_that_make_no_sense(self):
        def unknown_type(t):
            t["model"]["type"] = "Telepathy"

        def unknown_normalizer(t):
            t["normalizer"] = {"type": "Upside-Down"}

        def missing_token_in_merge(t):
            t["model"]["merges"].append("qqqq zzzz")

        for change, word in ((unknown_type, "Telepathy"), (unknown_normalizer, "Upside-Down"),
                             (missing_token_in_merge, "qqqq")):
            with self.subTest(word=word):
                folder = self.copy_of()
                self.edit_json(folder / "tokenizer.json", change)
                self.refuse(folder, "tokenizer.json", word)

    def test_a_missing_or_broken_tokenizer(self):
        folder = self.copy_of()
        for text in (b"", b"{}", b'{"model":' * 100_000, b'{"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}'):
            with self.subTest(text=text[:20]):
                (folder / "tokenizer.json").write_bytes(text)
                self.refuse(folder, "tokenizer.json")
        (folder / "tokenizer.json").unlink()
        self.refuse(folder, "tokenizer.json")

    def test_invalid_utf8_in_the_prompt(self):
        for prompt in (b"Once \xff upon", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"):
            with self.subTest(prompt=prompt):
                self.check_refused(hearth("generate", prompt, "--max-tokens", "2"), "utf-8")
                self.check_refused(hearth("generate", "--max-tokens", "2", stdin=prompt), "utf-8")

    def test_a_prompt_longer_than_the_context(self):
        result = hearth("generate", "the cat sat on the mat " * 400, "--max-tokens", "2")
        self.check_refused(result, "512")
        self.assertRegex(result.err, r"\d{4}")

    def test_an_empty_prompt_says_what_to_do(self):
        self.check_refused(hearth("generate", "--raw", stdin=b"", ), "prompt")


class Templates(BadInput):
    def with_template(self, text):
        folder = self.copy_of(CHAT)
        (folder / "chat_template.jinja").write_text(text)
        self.edit_json(folder / "tokenizer_config.json", lambda c: c.pop("chat_template", None))
        return folder

    def refuse_template(self, text, *words):
        self.refuse(self.with_template(text), *words, budget=BASE_BYTES + TEMPLATE_BYTES)

    def test_a_template_that_loops_for_ever(self):
        self.refuse_template("{% for i in range(1000000000) %}{% for j in range(1000000000) %}{% endfor %}{% endfor %}")
        self.refuse_template("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}")

    def test_a_template_that_builds_gigabytes(self):
        self.refuse_template("{% set ns = namespace(s='x' * 1000) %}{% for i in range(60) %}"
                             "{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}")
        self.refuse_template("{{ 'x' * 10000000000 }}")

    def test_a_template_with_a_mistake_gives_line_and_column(self):
        result = hearth("generate", "Once", "--model", self.with_template("{{ bos_token }}\n{% if %}"))
        self.check_refused(result)
        self.assertRegex(result.err, r"2:\d+|line 2")

    def test_a_template_may_refuse_the_conversation(self):
        self.refuse_template("{{ raise_exception('only cats may ask') }}", "only cats may ask")


if __name__ == "__main__":
    unittest.main()
