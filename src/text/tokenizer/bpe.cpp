#include "text/tokenizer/bpe.h"

#include <algorithm>

#include "base/error.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

constexpr size_t kKeptSymbols = size_t{1} << 18;  // working memory for longer words is given back

}  // namespace

bool Bpe::can_take_bytes(const ModelFile& file) {
  if (!file.continuing_subword_prefix.empty() || !file.end_of_word_suffix.empty()) return false;
  for (unsigned b = 0; b < 256; ++b) {
    std::string symbol;
    append_utf8(symbol, byte_stand_in(static_cast<unsigned char>(b)));
    if (file.vocab->find(symbol) < 0) return false;
  }
  return true;
}

Bpe::Bpe(ModelFile& file, Input input, const ControlIds& controls)
    : vocab_(file.vocab),
      input_(input),
      controls_(controls),
      merges_(file.merges, controls),
      prefix_(file.continuing_subword_prefix),
      suffix_(file.end_of_word_suffix),
      fuse_unk_(file.fuse_unk),
      ignore_merges_(file.ignore_merges) {
  if (!file.unk_token.empty()) unk_ = vocab_->find(file.unk_token);
  if (file.byte_fallback) byte_tokens_ = byte_token_ids(*vocab_);
  for (unsigned b = 0; b < 256; ++b) {
    std::string symbol;
    append_utf8(symbol, input == Input::kBytes ? byte_stand_in(static_cast<unsigned char>(b)) : b);
    symbol_of_byte_[b] = vocab_->find(symbol);
  }
  if (input == Input::kChars && prefix_.empty() && suffix_.empty() && !ignore_merges_) {
    find_joints(file.merges);
  }
  file.merges = {};
}

// A merge reaches from one character to the next only where its halves end and begin with them, so that a word may be
// cut between any two characters that no merge has there: long texts become short words, which the cache knows. Not so
// where a byte token takes part, whose text says nothing about its characters, or where unknown characters fuse.
void Bpe::find_joints(const std::vector<Merge>& merges) {
  const bool has_all_bytes =
      !byte_tokens_.empty() &&
      std::find(byte_tokens_.begin(), byte_tokens_.end(), -1) == byte_tokens_.end();
  if (fuse_unk_ && unk_ >= 0 && !has_all_bytes) return;
  auto joints = std::make_unique<CharPairs>();
  for (const Merge& m : merges) {
    const std::string_view left = vocab_->token_of(m.left).value_or("");
    const std::string_view right = vocab_->token_of(m.right).value_or("");
    if (left.empty() || right.empty() || byte_of_token(left) >= 0 || byte_of_token(right) >= 0)
      return;
    const char* last = left.data() + left.size() - 1;
    while (last > left.data() && (static_cast<unsigned char>(*last) & 0xC0U) == 0x80) --last;
    joints->add(decode_utf8(last).c, decode_utf8(right.data()).c);
  }
  joints_ = std::move(joints);
}

std::unique_ptr<ModelScratch> Bpe::make_scratch() const { return std::make_unique<Scratch>(); }

void Bpe::encode(std::string_view word, ModelScratch& scratch, std::vector<int32_t>& out) const {
  auto& own = static_cast<Scratch&>(scratch);
  const char* const end = word.data() + word.size();
  const char* from = word.data();
  if (joints_ != nullptr) {
    Decoded here = decode_utf8(from);
    while (here.next < end) {
      const char* const at = here.next;
      const Decoded next = decode_utf8(at);
      if (!joints_->contains(here.c, next.c)) {
        encode_piece(from, at, end, own, out);
        from = at;
      }
      here = next;
    }
  }
  encode_piece(from, end, end, own, out);
}

void Bpe::encode_short(std::string_view word, const WordCache::Key& key, Scratch& scratch,
                       std::vector<int32_t>& out) const {
  const size_t before = out.size();
  encode_long(word, scratch, out);
  const size_t count = out.size() - before;
  if (count == 0 || count > WordCache::kMaxIds) return;
  WordCache::Entry& entry = scratch.cache.make(key);
  entry.count = static_cast<uint32_t>(count);
  std::copy(out.begin() + static_cast<int64_t>(before), out.end(), entry.ids.begin());
}

void Bpe::encode_long(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const {
  if (word.size() > WordCache::kMaxLongBytes) {
    encode_uncached(word, scratch, out);
    return;
  }
  const auto key = WordCache::long_key_of(word);
  WordCache::LongEntry& entry = scratch.cache.long_slot(key);
  if (entry.key == key) {
    out.insert(out.end(), entry.ids.begin(), entry.ids.begin() + entry.count);
    return;
  }
  const size_t before = out.size();
  encode_uncached(word, scratch, out);
  const size_t count = out.size() - before;
  const bool is_for_first = word.size() <= WordCache::kMaxBytes && count <= WordCache::kMaxIds;
  if (count > WordCache::kMaxLongIds || is_for_first) return;
  entry.key = key;
  entry.count = static_cast<uint32_t>(count);
  std::copy(out.begin() + static_cast<int64_t>(before), out.end(), entry.ids.begin());
}

int32_t Bpe::find_whole(std::string_view word) const {
  if (static_cast<int64_t>(word.size()) > vocab_->longest_bytes()) return -1;
  if (input_ == Input::kChars) return vocab_->find(word);
  std::string spelled;
  append_stand_ins(word, spelled);
  return vocab_->find(spelled);
}

void Bpe::encode_uncached(std::string_view word, Scratch& scratch,
                          std::vector<int32_t>& out) const {
  if (ignore_merges_) {
    const int32_t whole = find_whole(word);
    if (whole >= 0 && !controls_.contains(whole)) {
      out.push_back(whole);
      return;
    }
  }
  scratch.symbols.clear();
  if (input_ == Input::kBytes) {
    for (const char c : word)
      scratch.symbols.push_back(symbol_of_byte_[static_cast<unsigned char>(c)]);
  } else {
    find_symbols(word, scratch);
  }
  const int64_t count = scratch.merger.merge(merges_, scratch.symbols);
  out.insert(out.end(), scratch.symbols.begin(), scratch.symbols.begin() + count);
  if (scratch.symbols.capacity() > kKeptSymbols) scratch.symbols = {};
}

void Bpe::find_symbols(std::string_view word, Scratch& scratch) const {
  const bool is_plain = prefix_.empty() && suffix_.empty();
  const char* const end = word.data() + word.size();
  bool is_open = false;  // the last symbol is an unknown one that the next unknown may join
  std::string decorated;
  for (const char* p = word.data(); p < end;) {
    const char* const next = decode_utf8(p).next;
    std::string_view symbol(p, static_cast<size_t>(next - p));
    int32_t id = -1;
    if (is_plain && next == p + 1) {
      id = symbol_of_byte_[static_cast<unsigned char>(*p)];
    } else {
      if (!is_plain) {
        decorated.clear();
        if (p != word.data()) decorated = prefix_;
        decorated.append(symbol);
        if (next == end) decorated.append(suffix_);
        symbol = decorated;
      }
      id = vocab_->find(symbol);
    }
    if (id >= 0) {
      is_open = false;
      scratch.symbols.push_back(id);
    } else {
      add_unknown(symbol, is_open, scratch);
    }
    p = next;
  }
}

void Bpe::add_unknown(std::string_view symbol, bool& is_open, Scratch& scratch) const {
  const auto token_of = [this](char c) { return byte_tokens_[static_cast<unsigned char>(c)]; };
  if (!byte_tokens_.empty() &&
      std::all_of(symbol.begin(), symbol.end(), [&](char c) { return token_of(c) >= 0; })) {
    for (const char c : symbol) scratch.symbols.push_back(token_of(c));
    is_open = false;
    return;
  }
  if (unk_ < 0) return;  // the reference drops what it can't spell
  if (!(fuse_unk_ && is_open)) scratch.symbols.push_back(unk_);
  is_open = true;
}

}  // namespace hearth::text
