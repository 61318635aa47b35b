#!/usr/bin/env python3
"""The commands of the real binary, end to end, on the starters and the shipped goldens."""
import json
import re
import shutil
import signal
import subprocess
import time
import unittest

from hearth_cli import BINARY, CHAT, GOLDEN, ROOT, STORIES, CliTest, hearth

STORY_GOLDEN = json.loads((GOLDEN / "starters/starter-stories/goldens.json").read_text())
CHAT_GOLDEN = json.loads((GOLDEN / "starters/starter-chat/goldens.json").read_text())
VERBS = ["generate", "chat", "inspect", "tokenize", "render", "verify", "bench", "make-checkpoint"]


class Generate(CliTest):
    def test_prints_the_recorded_stories(self):
        for case in STORY_GOLDEN["cases"]:
            if not case["prompt"]:
                continue
            with self.subTest(prompt=case["prompt"]):
                result = self.check_ok(hearth("generate", case["prompt"], "--temp", "0", "--max-tokens", "64"))
                self.assertEqual(result.out, case["greedy_text"] + "\n")

    def test_says_which_model_it_used_and_that_it_is_a_demonstration(self):
        result = self.check_ok(hearth("generate", "Once upon a time", "--max-tokens", "4"))
        self.assertIn("starter-stories", result.err)
        self.assertRegex(result.err.lower(), r"demonstration|tiny")

    def test_gen_is_generate_and_the_prompt_may_come_by_flag_or_stdin(self):
        wanted = hearth("generate", "Tim had a red ball. He", "--temp", "0", "--max-tokens", "16").out
        self.assertTrue(wanted)
        for arguments, stdin in [(("gen", "Tim had a red ball. He"), b""),
                                 (("generate", "--prompt", "Tim had a red ball. He"), b""),
                                 (("generate", "-"), b"Tim had a red ball. He"),
                                 (("generate",), b"Tim had a red ball. He")]:
            with self.subTest(arguments=arguments):
                result = self.check_ok(hearth(*arguments, "--temp", "0", "--max-tokens", "16", stdin=stdin))
                self.assertEqual(result.out, wanted)

    def test_a_folder_gives_what_the_embedded_starter_gives(self):
        flags = ("--temp", "0", "--max-tokens", "32")
        embedded = self.check_ok(hearth("generate", "The dog was very", "--model", "starter-stories", *flags))
        folder = self.check_ok(hearth("generate", "The dog was very", "--model", STORIES, *flags))
        self.assertEqual(embedded.out, folder.out)
        self.assertNotIn("demonstration", folder.err.lower())

    def test_a_seed_repeats_a_text_and_another_seed_gives_another(self):
        flags = ("generate", "One day", "--temp", "1", "--max-tokens", "40")
        texts = [self.check_ok(hearth(*flags, "--seed", seed)).out for seed in ("7", "7", "8")]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_numerics_and_threads_are_choices(self):
        flags = ("generate", "Once upon a time", "--temp", "0", "--max-tokens", "16")
        exact = self.check_ok(hearth(*flags, "--numerics", "exact"))
        self.assertEqual(exact.out, self.check_ok(hearth(*flags)).out)
        self.check_refused(hearth(*flags, "--numerics", "vague"), "--numerics", "exact", "fast")

    def test_json_holds_text_ids_and_counts(self):
        result = self.check_ok(hearth("generate", "Once upon a time", "--temp", "0", "--max-tokens", "8", "--json"))
        answer = json.loads(result.out)
        case = STORY_GOLDEN["cases"][0]
        self.assertEqual((answer["prompt_tokens"], answer["completion_tokens"]), (len(case["ids"]), 8))
        self.assertEqual(answer["tokens"], case["greedy_ids"][:8])
        self.assertEqual(answer["finish_reason"], "length")
        self.assertTrue(case["greedy_text"].startswith("Once upon a time" + answer["text"]), answer["text"])

    def test_a_chat_model_gets_its_template_unless_raw(self):
        case = CHAT_GOLDEN["cases"][0]
        question = case["messages"][0]["content"]
        flags = ("--model", "starter-chat", "--temp", "0", "--max-tokens", "40")
        self.assertEqual(self.check_ok(hearth("generate", question, *flags)).out, case["greedy_text"] + "\n")
        self.assertNotEqual(self.check_ok(hearth("generate", question, "--raw", *flags)).out, case["greedy_text"] + "\n")


class Chat(CliTest):
    def test_answers_a_capital_and_ends_its_turn(self):
        result = self.check_ok(hearth("chat", "--temp", "0", stdin=b"What is the capital of France?\n"))
        self.assertIn("The capital of France is Paris.", result.out)
        self.assertNotIn("<|im_end|>", result.out)
        self.assertIn("starter-chat", result.err)

    def test_gives_the_recorded_answers(self):
        for case in CHAT_GOLDEN["cases"]:
            question = case["messages"][0]["content"]
            with self.subTest(question=question):
                result = self.check_ok(hearth("chat", "--temp", "0", stdin=question.encode() + b"\n"))
                self.assertIn(case["greedy_text"], result.out)

    def test_keeps_the_history_of_several_turns(self):
        result = self.check_ok(hearth("chat", "--temp", "0", stdin=b"Hello\nWhat is the capital of France?\n"))
        self.assertIn("Hello! I am a very small llama.", result.out)
        self.assertGreater(len(result.out.strip().splitlines()), 1)

    def test_ctrl_c_stops_the_answer_and_not_the_program(self):
        process = subprocess.Popen([BINARY, "chat", "--temp", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        process.stdin.write(b"Tell me a story\n")
        process.stdin.flush()
        self.assertTrue(process.stdout.read(1))
        process.send_signal(signal.SIGINT)
        process.stdin.write(b"What is the capital of France?\n")
        process.stdin.close()
        rest = process.stdout.read().decode()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertTrue(rest.strip())


class Inspect(CliTest):
    def test_json_counts_parameters_and_bits(self):
        summary = json.loads(self.check_ok(hearth("inspect", "starter-stories", "--json")).out)
        text = json.dumps(summary)
        self.assertIn("260032", text)
        self.assertIn("llama", text)

    def test_names_the_quantization(self):
        result = self.check_ok(hearth("inspect", GOLDEN / "models/q-llama-mixed-bits"))
        self.assertRegex(result.out, r"(?i)bits")
        self.assertIn("group", result.out.lower())


class Tokenize(CliTest):
    def test_ids_are_the_recorded_ones(self):
        for case in STORY_GOLDEN["cases"]:
            with self.subTest(prompt=case["prompt"]):
                result = self.check_ok(hearth("tokenize", case["prompt"], "--special", "--json"))
                self.assertEqual(json.loads(result.out)["ids"], case["ids"])


class Render(CliTest):
    def test_prompts_are_the_recorded_ones(self):
        for case in CHAT_GOLDEN["cases"]:
            messages = self.folder / "messages.json"
            messages.write_text(json.dumps(case["messages"]))
            result = self.check_ok(hearth("render", messages, "--model", "starter-chat"))
            self.assertEqual(result.out, case["prompt"])


class Verify(CliTest):
    def test_passes_every_shipped_golden(self):
        folders = sorted(p.parent for p in (GOLDEN / "models").glob("*/golden.json"))
        self.assertGreaterEqual(len(folders), 25)
        result = self.check_ok(hearth("verify", *folders, timeout=300))
        for folder in folders:
            self.assertIn(folder.name, result.out)

    def test_passes_the_starters(self):
        for name in ("starter-stories", "starter-chat", "stories-bf16"):
            with self.subTest(name=name):
                self.check_ok(hearth("verify", GOLDEN / "starters" / name))

    def test_misses_a_tampered_weight(self):
        copy = self.copy_of(GOLDEN / "models/q-llama-affine-b4-g64")
        weights = bytearray((copy / "model.safetensors").read_bytes())
        middle = len(weights) // 2
        weights[middle:middle + 64] = bytes(64)
        (copy / "model.safetensors").write_bytes(weights)
        self.assertEqual(hearth("verify", copy).code, 1)

    def test_misses_a_tampered_greedy_token(self):
        copy = self.copy_of(GOLDEN / "models/q-llama-affine-b4-g64")

        def change(golden):
            golden["prompts"]["p37"]["greedy"][4] ^= 1
        self.edit_json(copy / "golden.json", change)
        self.assertEqual(hearth("verify", copy).code, 1)

    def test_json_has_a_verdict_per_folder(self):
        result = self.check_ok(hearth("verify", "--json", GOLDEN / "models/mistral"))
        self.assertIn("mistral", json.dumps(json.loads(result.out)))


class BenchAndMakeCheckpoint(CliTest):
    def make(self, config, *flags):
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        return hearth("make-checkpoint", "--config", path, self.folder / "made", *flags)

    CONFIG = json.loads((GOLDEN / "models/llama-bf16/config.json").read_text())

    def test_makes_a_checkpoint_that_inspect_and_bench_read(self):
        self.check_ok(self.make(self.CONFIG, "--seed", "3", "--bits", "4", "--group", "32"))
        self.assertRegex(self.check_ok(hearth("inspect", self.folder / "made")).out, "4.bit")
        result = hearth("bench", "--model", self.folder / "made", "--json", "--prompt", "16", "--tokens", "8", "--repeat", "3")
        self.assertGreater(json.loads(self.check_ok(result).out)["decode_tokens_per_second"]["median"], 0)

    def test_a_seed_gives_the_same_bytes(self):
        self.check_ok(self.make(self.CONFIG, "--seed", "3"))
        first = (self.folder / "made/model.safetensors").read_bytes()
        shutil.rmtree(self.folder / "made")
        self.check_ok(self.make(self.CONFIG, "--seed", "3"))
        self.assertEqual(first, (self.folder / "made/model.safetensors").read_bytes())

    def test_a_refused_config_leaves_nothing_behind(self):
        self.check_refused(self.make({**self.CONFIG, "model_type": "perceptron"}), "model_type", "perceptron", "llama")
        self.assertFalse((self.folder / "made").exists())


class Help(CliTest):
    def test_every_verb_has_help_with_examples(self):
        overview = self.check_ok(hearth("--help")).out
        for verb in VERBS:
            with self.subTest(verb=verb):
                self.assertIn(verb, overview)
                text = self.check_ok(hearth(verb, "--help")).out
                self.assertRegex(text, rf"(?m)^\s*hearth {verb} ", "an example line")

    def test_version(self):
        self.assertRegex(self.check_ok(hearth("--version")).out, r"^hearth \d+\.\d+\.\d+")

    def test_wrong_usage_is_refused(self):
        self.check_refused(hearth("genrate", "x"), "genrate")
        self.check_refused(hearth("generate", "x", "--no-such-flag"), "--no-such-flag")
        self.check_refused(hearth("generate", "x", "--temp", "-1"), "--temp")
        self.check_refused(hearth("generate", "x", "--top-p", "2"), "--top-p")
        self.check_refused(hearth("generate", "x", "--max-tokens", "many"), "--max-tokens")


if __name__ == "__main__":
    unittest.main()
