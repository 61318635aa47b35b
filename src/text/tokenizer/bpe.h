// Byte pair encoding (Sennrich et al. 2015, arXiv:1508.07909), as Hugging Face's library does it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/char_pairs.h"
#include "text/tokenizer/merge_table.h"
#include "text/tokenizer/model.h"
#include "text/tokenizer/word_cache.h"

namespace hearth::text {

// The symbols of a word are its bytes (byte-level vocabularies, kBytes) or its characters (kChars). The lowest-ranked
// pair merges first, of equals the leftmost. Time is linear in the word for what occurs in practice, including runs of
// one character, and O(n log n) at worst.
class Bpe final : public Model {
 public:
  enum class Input : uint8_t { kBytes, kChars };
  // Whether the vocabulary spells every byte and decorates no word, so that kBytes will do.
  static bool can_take_bytes(const ModelFile& file);
  // Takes the merges out of `file`; shares its vocabulary.
  Bpe(ModelFile& file, Input input, const ControlIds& controls);

  struct Scratch;
  std::unique_ptr<ModelScratch> make_scratch() const override;
  void encode(std::string_view word, ModelScratch& scratch,
              std::vector<int32_t>& out) const override;

  // The same for a word that may not be cut further, with the cache in front; the hot path of byte-level vocabularies.
  // `limit`: end of readable memory after the word.
  void encode_piece(const char* p, const char* q, const char* limit, Scratch& scratch,
                    std::vector<int32_t>& out) const;

 private:
  void encode_uncached(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const;
  // What encode_piece() does with words that the first table of the cache doesn't have, or can't.
  void encode_short(std::string_view word, const WordCache::Key& key, Scratch& scratch,
                    std::vector<int32_t>& out) const;
  void encode_long(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const;
  void find_symbols(std::string_view word, Scratch& scratch) const;
  void add_unknown(std::string_view symbol, bool& is_open, Scratch& scratch) const;
  int32_t find_whole(std::string_view word) const;
  void find_joints(const std::vector<Merge>& merges);

  std::shared_ptr<const Vocab> vocab_;
  Input input_;
  ControlIds controls_;
  MergeTable merges_;
  std::array<int32_t, 256>
      symbol_of_byte_{};              // kBytes: of each byte; kChars: of each ASCII character
  std::vector<int32_t> byte_tokens_;  // byte fallback; empty when off
  std::string prefix_;
  std::string suffix_;
  int32_t unk_ = -1;
  bool fuse_unk_ = false;
  bool ignore_merges_ = false;
  // kChars: the pairs of characters that some merge joins; a word may be cut between any others. Empty: don't cut.
  std::unique_ptr<const CharPairs> joints_;
};

struct Bpe::Scratch final : ModelScratch {
  WordCache cache;
  std::vector<int32_t> symbols;
  Merger merger;
};

inline void Bpe::encode_piece(const char* p, const char* q, const char* limit, Scratch& scratch,
                              std::vector<int32_t>& out) const {
  const int64_t size = q - p;
  if (size > WordCache::kMaxBytes) {
    encode_long({p, static_cast<size_t>(size)}, scratch, out);
    return;
  }
  const WordCache::Key key = WordCache::key_of(p, size, limit);
  const WordCache::Entry* entry = scratch.cache.find(key);
  if (entry == nullptr) [[unlikely]] {
    encode_short({p, static_cast<size_t>(size)}, key, scratch, out);
    return;
  }
  out.push_back(entry->ids[0]);
  if (entry->count > 1) [[unlikely]] {
    out.insert(out.end(), entry->ids.begin() + 1, entry->ids.begin() + entry->count);
  }
}

}  // namespace hearth::text
