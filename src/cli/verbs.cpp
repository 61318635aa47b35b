#include "cli/verb.h"

namespace hearth::cli {
namespace {

constexpr Verb kVerbs[] = {
    {"generate", "gen", "Continue a prompt, or answer it if the model has a chat template",
     "  hearth generate \"Once upon a time\"\n"
     "  hearth generate --model ~/models/Qwen3-0.6B \"Why is the sky blue?\" --temp 0.7 "
     "--max-tokens 200\n"
     "  echo \"Tell me a story\" | hearth generate -\n"
     "  hearth generate \"Once\" --json",
     setup_generate},
    {"chat", "", "Talk with a model in the terminal",
     "  hearth chat\n"
     "  hearth chat --model ~/models/Qwen3-0.6B --system \"Answer briefly.\"\n"
     "  printf 'What is the capital of France?\\n' | hearth chat",
     setup_chat},
    {"inspect", "",
     "Show a checkpoint's config, tensors, bits per weight and memory, without loading it",
     "  hearth inspect ~/models/Qwen3-0.6B\n"
     "  hearth inspect ~/models/Qwen3-0.6B --tensors\n"
     "  hearth inspect starter-chat --json",
     setup_inspect},
    {"tokenize", "", "Turn text into token ids, or ids into text",
     "  hearth tokenize \"Once upon a time\"\n"
     "  hearth tokenize --model ~/models/Qwen3-0.6B --lines < text.txt\n"
     "  hearth tokenize --decode 403 407 261 378",
     setup_tokenize},
    {"render", "", "Show the exact prompt that a chat template makes of messages and tools",
     "  hearth render '[{\"role\": \"user\", \"content\": \"Hello\"}]'\n"
     "  hearth render --model ~/models/Qwen3-0.6B --tools tools.json messages.json --ids",
     setup_render},
    {"verify", "", "Compare this build's logits with recorded ones of the reference implementation",
     "  hearth verify tests/golden/models/*\n"
     "  hearth verify --numerics fast tests/golden/models/q-llama-affine-b8-g64\n"
     "  hearth verify --json tests/golden/models/llama-bf16",
     setup_verify},
    {"bench", "", "Measure tokens per second of a model on this machine",
     "  hearth bench\n"
     "  hearth bench --model ~/models/Qwen3-0.6B --prompt 512 --tokens 64 --repeat 5",
     setup_bench},
    {"make-checkpoint", "", "Write a model of random weights, for tests and benchmarks",
     "  hearth make-checkpoint --preset 110m /tmp/m110 --bits 4 --group 64\n"
     "  hearth make-checkpoint --config config.json /tmp/tiny --dtype f32 --shards 3",
     setup_make_checkpoint},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace hearth::cli
