// Text to token ids and back, as a checkpoint's tokenizer.json (Hugging Face tokenizers) says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/prompt.h"

namespace hearth {

namespace text {
class TokenizerData;  // text/tokenizer/data.h
}

struct EncodeOptions {
  // Wrap the ids as the post-processor and tokenizer_config.json say: usually one BOS in front. Text that itself
  // begins with the BOS text (and parse_special) then has two, as in transformers.
  bool add_special = true;
  // Control-token text in `text` becomes the control token. Off: it is spelled like any other text.
  bool parse_special = false;
};

struct SegmentOptions {
  // Put one BOS in front if the tokenizer begins sequences with one and the prompt doesn't already.
  bool ensure_bos = true;
  // Reference behaviour: control-token text counts in untrusted segments too.
  bool parse_untrusted = false;
};

enum class SpecialTokens : uint8_t { kKeep, kSkip };

// A loaded tokenizer. Models: BPE (byte-level, or characters with byte fallback), Unigram, WordPiece, WordLevel.
// `truncation`, `padding` and `clean_up_tokenization_spaces` are ignored; BPE dropout is refused.
//
// Text that is not UTF-8 is read with U+FFFD for each maximal broken part. Control tokens are the added tokens marked
// `special`, those spelled like <|...|>, and the tags of reasoning and tool calls (<think>, <tool_call>, ...), which
// some checkpoints forget to mark.
//
// Immutable after loading: every const method may be called from any thread at once. Cheap to copy (shared data).
class Tokenizer {
 public:
  // Reads tokenizer.json and, if there, tokenizer_config.json beside it. `path` is a checkpoint's folder or a
  // tokenizer.json. Throws kNotFound; kCorruptData or kUnsupported naming file and field.
  static Tokenizer load(const std::filesystem::path& path);

  // The same from memory. `config_json` may be empty; `name` stands for the file in messages.
  static Tokenizer parse(std::string_view tokenizer_json, std::string_view config_json,
                         std::string_view name);

  // Throws kResourceExhausted when a regular expression of the file takes too many steps on this text, and
  // kInvalidArgument for text over 1 GiB.
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;

  // Ids of a rendered prompt. Control tokens count only where their whole text lies in trusted segments; everything
  // else is as if the joined text had been encoded, so segment borders don't show. Never appends an EOS.
  std::vector<int32_t> encode_segments(std::span<const PromptSegment> segments,
                                       const SegmentOptions& options = {}) const;

  // The whole text of ids: what a StreamDecoder (text/detokenizer.h) gives when its pieces are joined. Ids that are
  // not in the vocabulary add nothing.
  std::string decode(std::span<const int32_t> ids,
                     SpecialTokens specials = SpecialTokens::kKeep) const;

  // Highest id + 1, added tokens included. There may be holes below.
  int32_t vocab_size() const;
  std::optional<int32_t> token_to_id(std::string_view token) const;
  // The token as the file spells it ("Ġthe", "▁the", "<0x0A>"); nullopt for a hole. Valid as long as the tokenizer.
  std::optional<std::string_view> id_to_token(int32_t id) const;
  // The bytes that the token adds in the middle of a text (" the", one byte for a byte token); empty for a hole.
  std::string token_bytes(int32_t id) const;
  // An added token marked `special` (or named as bos, eos, ... by tokenizer_config.json): what kSkip leaves out.
  bool is_special(int32_t id) const;

  // From tokenizer_config.json, else from what the post-processor puts around a text.
  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;
  // Whether encode() with add_special begins with bos_id().
  bool begins_with_bos() const;

  const text::TokenizerData& data() const { return *data_; }

 private:
  explicit Tokenizer(std::shared_ptr<const text::TokenizerData> data) : data_(std::move(data)) {}

  std::shared_ptr<const text::TokenizerData> data_;
};

}  // namespace hearth
