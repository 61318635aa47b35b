// Unigram (Kudo 2018, arXiv:1804.10959): the segmentation of highest summed score, by Viterbi over a trie.
#include <algorithm>

#include "base/error.h"
#include "text/tokenizer/model.h"
#include "text/tokenizer/trie.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

constexpr double kUnknownPenalty = 10.0;  // sentencepiece's: below the lowest score

class Unigram final : public Model {
 public:
  Unigram(const ModelFile& file, const ControlIds& controls, std::string_view name)
      : vocab_(file.vocab),
        scores_(file.scores),
        unk_(static_cast<int32_t>(file.unk_id)),
        name_(name) {
    if (file.byte_fallback) byte_tokens_ = byte_token_ids(*vocab_);
    const auto count = static_cast<int32_t>(scores_.size());
    for (int32_t id = 0; id < count; ++id) {
      const std::string_view piece = vocab_->token_of(id).value_or("");
      if (!piece.empty() && !controls.contains(id)) trie_.add(piece, id);
      unknown_score_ = std::min(unknown_score_, scores_[static_cast<size_t>(id)]);
    }
    unknown_score_ -= kUnknownPenalty;
  }

  std::unique_ptr<ModelScratch> make_scratch() const override {
    return std::make_unique<Scratch>();
  }

  void encode(std::string_view word, ModelScratch& scratch,
              std::vector<int32_t>& out) const override {
    auto& best = static_cast<Scratch&>(scratch).best;
    search(word, best);
    // Back from the end; runs of unknown characters are one piece.
    std::vector<std::pair<std::string_view, int32_t>>& pieces =
        static_cast<Scratch&>(scratch).pieces;
    pieces.clear();
    for (int64_t end = static_cast<int64_t>(word.size()); end > 0;) {
      const Node& node = best[static_cast<size_t>(end)];
      const std::string_view text =
          word.substr(static_cast<size_t>(node.begin), static_cast<size_t>(end - node.begin));
      if (node.id == kUnknown && !pieces.empty() && pieces.back().second == kUnknown) {
        pieces.back().first =
            std::string_view(text.data(), text.size() + pieces.back().first.size());
      } else {
        pieces.emplace_back(text, node.id);
      }
      end = node.begin;
    }
    for (auto it = pieces.rbegin(); it != pieces.rend(); ++it) {
      if (it->second != kUnknown) {
        out.push_back(it->second);
      } else {
        add_unknown(it->first, out);
      }
    }
  }

 private:
  static constexpr int32_t kUnknown = -1;
  struct Node {
    double score;
    int64_t begin;  // -1: not reached
    int32_t id;
  };
  struct Scratch final : ModelScratch {
    std::vector<Node> best;
    std::vector<std::pair<std::string_view, int32_t>> pieces;
  };

  void search(std::string_view word, std::vector<Node>& best) const {
    best.assign(word.size() + 1, Node{0.0, -1, kUnknown});
    const auto offer = [&](size_t end, double score, size_t begin, int32_t id) {
      Node& node = best[end];
      if (node.begin < 0 || score > node.score) node = {score, static_cast<int64_t>(begin), id};
    };
    for (size_t at = 0; at < word.size();) {
      const double here = best[at].score;
      const size_t width =
          static_cast<size_t>(decode_utf8(word.data() + at).next - (word.data() + at));
      bool has_single = false;
      int32_t node = 0;
      for (size_t end = at; end < word.size();) {
        node = trie_.next(node, static_cast<unsigned char>(word[end]));
        if (node < 0) break;
        ++end;
        const int32_t id = trie_.value(node);
        if (id < 0) continue;
        offer(end, here + scores_[static_cast<size_t>(id)], at, id == unk_ ? kUnknown : id);
        has_single = has_single || end - at == width;
      }
      if (!has_single) offer(at + width, here + unknown_score_, at, kUnknown);
      at += width;
    }
  }

  void add_unknown(std::string_view text, std::vector<int32_t>& out) const {
    const auto token_of = [this](char c) { return byte_tokens_[static_cast<unsigned char>(c)]; };
    if (!byte_tokens_.empty() &&
        std::all_of(text.begin(), text.end(), [&](char c) { return token_of(c) >= 0; })) {
      for (const char c : text) out.push_back(token_of(c));
      return;
    }
    if (unk_ < 0)
      fail(Code::kInvalidArgument, name_,
           ": the text has characters that the vocabulary lacks, and it has no unk_id");
    out.push_back(unk_);
  }

  std::shared_ptr<const Vocab> vocab_;
  std::vector<double> scores_;
  std::vector<int32_t> byte_tokens_;
  Trie trie_;
  double unknown_score_ = 0.0;
  int32_t unk_;
  std::string name_;
};

}  // namespace

std::vector<int32_t> byte_token_ids(const Vocab& vocab) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::vector<int32_t> ids(256);
  for (size_t b = 0; b < 256; ++b) {
    const std::string token = std::string("<0x") + kHex[b >> 4] + kHex[b & 15U] + ">";
    ids[b] = vocab.find(token);
  }
  return ids;
}

int byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  const int high = digit(token[3]);
  const int low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::unique_ptr<const Model> make_unigram(const ModelFile& file, const ControlIds& controls,
                                          std::string_view name) {
  return std::make_unique<Unigram>(file, controls, name);
}

}  // namespace hearth::text
