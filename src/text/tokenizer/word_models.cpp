// WordPiece (greedy longest match, Wu et al. 2016, arXiv:1609.08144) and WordLevel (whole words only).
#include <utility>

#include "base/error.h"
#include "text/tokenizer/model.h"
#include "text/tokenizer/trie.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

int32_t unknown_id(const ModelFile& file, std::string_view name) {
  const int32_t id = file.unk_token.empty() ? -1 : file.vocab->find(file.unk_token);
  require_data(id >= 0, name, ": model.unk_token is missing, which WordPiece and WordLevel need");
  return id;
}

class WordPiece final : public Model {
 public:
  WordPiece(const ModelFile& file, const ControlIds& controls, std::string_view name)
      : trie_(file.vocab->size() * 8),
        unk_(unknown_id(file, name)),
        max_chars_(file.max_input_chars_per_word) {
    for (int64_t i = 0; i < file.vocab->size(); ++i) {
      const Vocab::Item item = file.vocab->item(i);
      if (!controls.contains(item.id)) trie_.add(item.token, item.id);
    }
    inner_ = trie_.walk(file.continuing_subword_prefix);
  }

  std::unique_ptr<ModelScratch> make_scratch() const override {
    return std::make_unique<ModelScratch>();
  }

  void encode(std::string_view word, ModelScratch&, std::vector<int32_t>& out) const override {
    const size_t before = out.size();
    int64_t chars = 0;
    for (const char c : word) chars += (static_cast<unsigned char>(c) & 0xC0U) != 0x80 ? 1 : 0;
    bool is_known = chars <= max_chars_;
    for (size_t at = 0; is_known && at < word.size();) {
      int32_t node = at == 0 ? 0 : inner_;
      int32_t found = -1;
      size_t end = at;
      for (size_t i = at; i < word.size() && node >= 0; ++i) {
        node = trie_.next(node, static_cast<unsigned char>(word[i]));
        if (node < 0 || trie_.value(node) < 0) continue;
        found = trie_.value(node);
        end = i + 1;
      }
      is_known = found >= 0;
      if (is_known) out.push_back(found);
      at = end;
    }
    if (is_known) return;
    out.resize(before);
    out.push_back(unk_);
  }

 private:
  Trie trie_;
  int32_t inner_ = -1;  // the node after the continuing prefix
  int32_t unk_;
  int64_t max_chars_;
};

class WordLevel final : public Model {
 public:
  WordLevel(const ModelFile& file, ControlIds controls, std::string_view name)
      : vocab_(file.vocab), controls_(std::move(controls)), unk_(unknown_id(file, name)) {}

  std::unique_ptr<ModelScratch> make_scratch() const override {
    return std::make_unique<ModelScratch>();
  }

  void encode(std::string_view word, ModelScratch&, std::vector<int32_t>& out) const override {
    const int32_t id = vocab_->find(word);
    out.push_back(id < 0 || controls_.contains(id) ? unk_ : id);
  }

 private:
  std::shared_ptr<const Vocab> vocab_;
  ControlIds controls_;
  int32_t unk_;
};

}  // namespace

std::unique_ptr<const Model> make_word_piece(const ModelFile& file, const ControlIds& controls,
                                             std::string_view name) {
  return std::make_unique<WordPiece>(file, controls, name);
}

std::unique_ptr<const Model> make_word_level(const ModelFile& file, const ControlIds& controls,
                                             std::string_view name) {
  return std::make_unique<WordLevel>(file, controls, name);
}

}  // namespace hearth::text
