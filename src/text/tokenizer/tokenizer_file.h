// tokenizer.json as it lies on disk, checked for form but not yet for sense.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/vocab.h"

namespace hearth::text {

struct AddedToken {
  std::string content;
  int32_t id = -1;
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  bool normalized = false;
  bool special = false;
};

// One BPE merge: left + right -> product. The position in the list is its rank.
struct Merge {
  int32_t left;
  int32_t right;
  int32_t product;
};

enum class ModelKind : uint8_t { kBpe, kUnigram, kWordPiece, kWordLevel };

struct ModelFile {
  ModelKind kind = ModelKind::kBpe;
  std::shared_ptr<Vocab> vocab = std::make_shared<Vocab>();
  std::vector<Merge> merges;   // BPE
  std::vector<double> scores;  // Unigram: by id
  std::string unk_token;       // empty: none
  int64_t unk_id = -1;         // Unigram; -1: none
  std::string continuing_subword_prefix;
  std::string end_of_word_suffix;
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
  int64_t max_input_chars_per_word = 100;
};

struct TokenizerFile {
  std::string name;  // for messages
  std::vector<AddedToken> added;
  Json normalizer;
  Json pre_tokenizer;
  Json post_processor;
  Json decoder;
  ModelFile model;
};

// Parses with simdjson: 11 MB in some tens of milliseconds, memory a small multiple of the text. Throws kCorruptData or
// kUnsupported naming `name` and the field: unknown model, ids that repeat, are negative or beyond int32, merges of
// tokens that the vocabulary lacks.
TokenizerFile read_tokenizer_file(std::string_view json, std::string_view name);

}  // namespace hearth::text
