// The `model` of tokenizer.json: turns one word of the pre-tokenizer into ids.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "text/tokenizer/tokenizer_file.h"

namespace hearth::text {

// One thread's working memory for a model; each model brings its own.
class ModelScratch {
 public:
  virtual ~ModelScratch() = default;
};

// Immutable; shared between threads.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::unique_ptr<ModelScratch> make_scratch() const = 0;
  // Appends the ids of `word` (not empty, well-formed UTF-8). `scratch` is from this model's make_scratch().
  virtual void encode(std::string_view word, ModelScratch& scratch,
                      std::vector<int32_t>& out) const = 0;
};

// "<0x0A>": the token of one byte in vocabularies with byte fallback. The id of each, -1 where it is missing.
std::vector<int32_t> byte_token_ids(const Vocab& vocab);
// The byte that such a token stands for; -1 for other tokens.
int byte_of_token(std::string_view token);

// Ids of control tokens: no model makes them out of text, even where its own tables hold their spelling.
using ControlIds = std::unordered_set<int32_t>;

// Unigram, WordPiece and WordLevel (BPE: bpe.h). Throws kCorruptData naming `name`.
std::unique_ptr<const Model> make_unigram(const ModelFile& file, const ControlIds& controls,
                                          std::string_view name);
std::unique_ptr<const Model> make_word_piece(const ModelFile& file, const ControlIds& controls,
                                             std::string_view name);
std::unique_ptr<const Model> make_word_level(const ModelFile& file, const ControlIds& controls,
                                             std::string_view name);

}  // namespace hearth::text
