#include "text/tokenizer/data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "base/error.h"
#include "text/tokenizer/scanners.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

constexpr size_t kIdleScratches = 8;

// bos_token and friends are a string or an object with `content`; empty when absent.
std::string special_text(const Json& config, const char* key) {
  const Json* value = config.find_value(key);
  if (value == nullptr) return {};
  if (value->is_string()) return value->as_string();
  if (value->is_object()) return value->get_string("content", "");
  return {};
}

// The tokens that only tokenizer_config.json knows.
std::vector<AddedToken> config_tokens(const Json& config) {
  std::vector<AddedToken> tokens;
  const Json* decoder = config.find_value("added_tokens_decoder");
  if (decoder == nullptr || !decoder->is_object()) return tokens;
  for (const auto& [key, value] : decoder->as_object()) {
    AddedToken t;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), t.id);
    if (error != std::errc() || end != key.data() + key.size() || t.id < 0 || t.id == INT32_MAX)
      continue;
    if (!value.is_object()) continue;
    t.content = value.get_string("content", "");
    t.single_word = value.get_bool("single_word", false);
    t.lstrip = value.get_bool("lstrip", false);
    t.rstrip = value.get_bool("rstrip", false);
    t.special = value.get_bool("special", false);
    t.normalized = value.get_bool("normalized", !t.special);
    tokens.push_back(std::move(t));
  }
  return tokens;
}

// Added tokens by content, with the ids that hold: the model's own where it has the text.
class AddedList {
 public:
  AddedList(const Vocab& vocab, std::string_view name) : vocab_(vocab), name_(name) {}

  void add(AddedToken token, bool is_strict) {
    if (token.content.empty()) return;
    const int32_t known = vocab_.find(token.content);
    if (known >= 0) token.id = known;
    const auto same = by_content_.find(token.content);
    if (same != by_content_.end()) {
      AddedToken& old = list_[same->second];
      old.special = old.special || token.special;
      return;
    }
    const bool is_taken =
        (known < 0 && vocab_.token_of(token.id).has_value()) || ids_.contains(token.id);
    if (is_taken && !is_strict) return;
    require_data(!is_taken, name_, ": added_tokens: id ", token.id, " of \"", token.content,
                 "\" belongs to another token already");
    ids_.insert(token.id);
    by_content_.emplace(token.content, list_.size());
    list_.push_back(std::move(token));
  }

  void mark_special(const std::string& content) {
    if (content.empty()) return;
    AddedToken token;
    token.content = content;
    token.special = true;
    token.id = vocab_.find(content);
    if (token.id >= 0 || by_content_.contains(content)) add(std::move(token), /*is_strict=*/false);
  }

  std::vector<AddedToken> take() { return std::move(list_); }

 private:
  const Vocab& vocab_;
  std::string_view name_;
  std::vector<AddedToken> list_;
  std::unordered_map<std::string, size_t> by_content_;
  std::unordered_set<int32_t> ids_;
};

template <class Scanner>
void encode_scanned(const Scanner& scanner, std::string_view text, const Bpe& bpe,
                    Bpe::Scratch& scratch, std::vector<int32_t>& out) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const char* const q = scanner.next(p, end);
    bpe.encode_piece(p, q, end, scratch, out);
    p = q;
  }
}

}  // namespace

struct TokenizerData::Scratch {
  Pieces pieces;
  std::unique_ptr<ModelScratch> model;
  std::string normalized;
  std::vector<AddedTokens::Part> parts;
  std::vector<AddedTokens::Part> inner;
  StepBudget budget{0};
};

// Working memory for one call, out of the pool and back.
class TokenizerData::Lease {
 public:
  explicit Lease(const TokenizerData& data) : data_(data) {
    {
      const std::scoped_lock lock(data_.mutex_);
      if (!data_.idle_.empty()) {
        scratch_ = std::move(data_.idle_.back());
        data_.idle_.pop_back();
      }
    }
    if (scratch_ == nullptr) {
      scratch_ = std::make_unique<Scratch>();
      scratch_->model = data_.model_->make_scratch();
    }
  }
  ~Lease() {
    const std::scoped_lock lock(data_.mutex_);
    if (data_.idle_.size() < kIdleScratches) data_.idle_.push_back(std::move(scratch_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Scratch& operator*() const { return *scratch_; }

 private:
  const TokenizerData& data_;
  std::unique_ptr<Scratch> scratch_;
};

TokenizerData::TokenizerData(TokenizerFile file, const Json& config)
    : name_(file.name),
      vocab_(file.model.vocab),
      normalizer_(file.normalizer, file.name + ": normalizer"),
      pre_tokenizer_(file.pre_tokenizer, file.name + ": pre_tokenizer"),
      decoder_(file.decoder, file.name + ": decoder") {
  settle_added(file, config);
  make_model(file);
  settle_wrapping(file, config);
}

TokenizerData::~TokenizerData() = default;

void TokenizerData::settle_added(TokenizerFile& file, const Json& config) {
  AddedList list(*vocab_, name_);
  for (AddedToken& token : file.added) list.add(std::move(token), /*is_strict=*/true);
  for (AddedToken& token : config_tokens(config)) list.add(std::move(token), /*is_strict=*/false);
  for (const char* key : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                          "cls_token", "mask_token"}) {
    list.mark_special(special_text(config, key));
  }
  added_ = AddedTokens(list.take(), normalizer_, name_);
  vocab_size_ = vocab_->id_end();
  for (const AddedToken& token : added_.all()) {
    added_ids_.emplace(token.content, token.id);
    vocab_size_ = std::max(vocab_size_, token.id + 1);
  }
}

void TokenizerData::make_model(TokenizerFile& file) {
  // Ids that plain text may never become, whatever the model's own tables say.
  ControlIds controls;
  for (const AddedToken& token : added_.all()) {
    if (is_control(token)) controls.insert(token.id);
  }
  ModelFile& m = file.model;
  switch (m.kind) {
    case ModelKind::kUnigram:
      model_ = make_unigram(m, controls, name_);
      return;
    case ModelKind::kWordPiece:
      model_ = make_word_piece(m, controls, name_);
      return;
    case ModelKind::kWordLevel:
      model_ = make_word_level(m, controls, name_);
      return;
    case ModelKind::kBpe:
      break;
  }
  const bool takes_bytes = pre_tokenizer_.ends_in_byte_level() && Bpe::can_take_bytes(m);
  if (takes_bytes) pre_tokenizer_.take_bytes();
  auto bpe =
      std::make_unique<Bpe>(m, takes_bytes ? Bpe::Input::kBytes : Bpe::Input::kChars, controls);
  if (takes_bytes) byte_bpe_ = bpe.get();
  model_ = std::move(bpe);
}

void TokenizerData::settle_wrapping(const TokenizerFile& file, const Json& config) {
  wrapping_ = parse_post_processor(file.post_processor, vocab_size_, name_ + ": post_processor");
  bos_id_ = token_to_id(special_text(config, "bos_token"));
  eos_id_ = token_to_id(special_text(config, "eos_token"));
  if (!bos_id_ && !wrapping_.before.empty()) bos_id_ = wrapping_.before.front();
  if (!eos_id_ && !wrapping_.after.empty()) eos_id_ = wrapping_.after.back();
  std::vector<int32_t>& before = wrapping_.before;
  if (const Json* add = config.find_value("add_bos_token"); add != nullptr && bos_id_) {
    const bool has_bos = !before.empty() && before.front() == *bos_id_;
    if (add->as_bool() && !has_bos) before.insert(before.begin(), *bos_id_);
    if (!add->as_bool() && has_bos) before.erase(before.begin());
  }
  std::vector<int32_t>& after = wrapping_.after;
  if (config.get_bool("add_eos_token", false) && eos_id_ &&
      (after.empty() || after.back() != *eos_id_)) {
    after.push_back(*eos_id_);
  }
}

std::optional<int32_t> TokenizerData::token_to_id(std::string_view token) const {
  const auto it = added_ids_.find(std::string(token));
  if (it != added_ids_.end()) return it->second;
  const int32_t id = vocab_->find(token);
  return id < 0 ? std::nullopt : std::optional<int32_t>(id);
}

std::optional<std::string_view> TokenizerData::id_to_token(int32_t id) const {
  if (const AddedToken* token = added_.find(id)) return token->content;
  return vocab_->token_of(id);
}

bool TokenizerData::is_special(int32_t id) const {
  const AddedToken* token = added_.find(id);
  return token != nullptr && token->special;
}

void TokenizerData::encode(std::string_view text, const ControlScope& scope,
                           std::vector<int32_t>& out) const {
  const Lease lease(*this);
  Scratch& s = *lease;
  s.budget.left = 4'000'000 + 8 * static_cast<int64_t>(text.size());
  s.parts.clear();
  added_.split_raw(text, scope, s.parts);
  for (const AddedTokens::Part& part : s.parts) {
    if (part.id >= 0) {
      out.push_back(part.id);
      continue;
    }
    const TextRange r = part.range;
    encode_section(text.substr(static_cast<size_t>(r.begin), static_cast<size_t>(r.end - r.begin)),
                   r.begin == 0, scope.kind == ControlScope::Kind::kEverywhere, s, out);
  }
}

void TokenizerData::encode_section(std::string_view text, bool at_start, bool with_control,
                                   Scratch& s, std::vector<int32_t>& out) const {
  const std::string_view normalized = normalizer_.run(text, s.normalized, s.pieces.regex, s.budget);
  if (!added_.has_normalized()) {
    encode_words(normalized, at_start, s, out);
    return;
  }
  s.inner.clear();
  added_.split_normalized(normalized, with_control, s.inner);
  for (const AddedTokens::Part& part : s.inner) {
    if (part.id >= 0) {
      out.push_back(part.id);
      continue;
    }
    const TextRange r = part.range;
    encode_words(
        normalized.substr(static_cast<size_t>(r.begin), static_cast<size_t>(r.end - r.begin)),
        at_start && r.begin == 0, s, out);
  }
}

void TokenizerData::encode_words(std::string_view text, bool at_start, Scratch& s,
                                 std::vector<int32_t>& out) const {
  if (byte_bpe_ != nullptr) {
    auto& scratch = static_cast<Bpe::Scratch&>(*s.model);
    switch (pre_tokenizer_.single_pattern()) {
      case KnownPattern::kGpt2:
        return encode_scanned(Gpt2Scanner(), text, *byte_bpe_, scratch, out);
      case KnownPattern::kCl100k:
        return encode_scanned(Cl100kScanner<kLetter, 3>(), text, *byte_bpe_, scratch, out);
      case KnownPattern::kQwen2:
        return encode_scanned(Cl100kScanner<kLetter, 1>(), text, *byte_bpe_, scratch, out);
      case KnownPattern::kQwen35:
        return encode_scanned(Cl100kScanner<kLetter | kMark, 1>(), text, *byte_bpe_, scratch, out);
      case KnownPattern::kO200k:
        return encode_scanned(O200kScanner<true, 3>(), text, *byte_bpe_, scratch, out);
      case KnownPattern::kTekken:
        return encode_scanned(O200kScanner<false, 1>(), text, *byte_bpe_, scratch, out);
      default:
        break;
    }
  }
  pre_tokenizer_.run(text, at_start, s.pieces, s.budget,
                     [&](std::string_view words, std::span<const TextRange> pieces) {
                       encode_pieces(words, pieces, s, out);
                     });
}

void TokenizerData::encode_pieces(std::string_view text, std::span<const TextRange> pieces,
                                  Scratch& s, std::vector<int32_t>& out) const {
  const char* const base = text.data();
  if (byte_bpe_ != nullptr) {
    auto& scratch = static_cast<Bpe::Scratch&>(*s.model);
    for (const TextRange r : pieces) {
      byte_bpe_->encode_piece(base + r.begin, base + r.end, base + text.size(), scratch, out);
    }
    return;
  }
  for (const TextRange r : pieces) {
    model_->encode({base + r.begin, static_cast<size_t>(r.end - r.begin)}, *s.model, out);
  }
}

}  // namespace hearth::text
