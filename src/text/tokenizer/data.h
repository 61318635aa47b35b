// Everything that a loaded tokenizer consists of.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/bpe.h"
#include "text/tokenizer/decoder.h"
#include "text/tokenizer/model.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/post_processor.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/tokenizer/tokenizer_file.h"

namespace hearth::text {

// Shared: all fields are const after construction but the pool of working memory, which a mutex guards.
class TokenizerData {
 public:
  // `config`: tokenizer_config.json, or null. Throws as Tokenizer::load().
  TokenizerData(TokenizerFile file, const Json& config);
  ~TokenizerData();

  // Appends the ids of `text` (well-formed UTF-8), without what the post-processor puts around it.
  void encode(std::string_view text, const ControlScope& scope, std::vector<int32_t>& out) const;

  const Wrapping& wrapping() const { return wrapping_; }
  const Decoder& decoder() const { return decoder_; }
  const std::string& name() const { return name_; }
  std::optional<int32_t> bos_id() const { return bos_id_; }
  std::optional<int32_t> eos_id() const { return eos_id_; }
  std::optional<int32_t> token_to_id(std::string_view token) const;
  std::optional<std::string_view> id_to_token(int32_t id) const;
  int32_t vocab_size() const { return vocab_size_; }
  bool is_added(int32_t id) const { return added_.find(id) != nullptr; }
  bool is_special(int32_t id) const;

 private:
  struct Scratch;
  class Lease;

  void settle_added(TokenizerFile& file, const Json& config);
  void make_model(TokenizerFile& file);
  void settle_wrapping(const TokenizerFile& file, const Json& config);
  void encode_section(std::string_view text, bool at_start, bool with_control, Scratch& s,
                      std::vector<int32_t>& out) const;
  void encode_words(std::string_view text, bool at_start, Scratch& s,
                    std::vector<int32_t>& out) const;

  void encode_pieces(std::string_view text, std::span<const TextRange> pieces, Scratch& s,
                     std::vector<int32_t>& out) const;

  std::string name_;
  std::shared_ptr<const Vocab> vocab_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  std::unique_ptr<const Model> model_;
  const Bpe* byte_bpe_ = nullptr;  // model_, where words are runs of bytes
  AddedTokens added_;
  std::unordered_map<std::string, int32_t> added_ids_;
  Wrapping wrapping_;
  Decoder decoder_;
  std::optional<int32_t> bos_id_;
  std::optional<int32_t> eos_id_;
  int32_t vocab_size_ = 0;

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;  // guarded by mutex_
};

}  // namespace hearth::text
