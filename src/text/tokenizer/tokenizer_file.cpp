#include "text/tokenizer/tokenizer_file.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hearth::text {
namespace {

namespace od = simdjson::ondemand;

constexpr int64_t kMaxFileBytes = int64_t{1} << 30;
constexpr int64_t kMaxId = INT32_MAX - 1;

class Reader {
 public:
  Reader(std::string_view json, std::string_view name) : padded_(json) { file_.name = name; }

  // One pass in the order of the file: looking up an absent key would skip the whole vocabulary once more.
  TokenizerFile read() {
    try {
      od::document document = parser_.iterate(padded_);
      at("the top level");
      od::object root = document.get_object();
      bool has_model = false;
      for (auto field : root) {
        const std::string_view key = field.unescaped_key();
        od::value value = field.value();
        at(key);
        if (key == "added_tokens") read_added(value);
        if (key == "normalizer") file_.normalizer = part(value);
        if (key == "pre_tokenizer") file_.pre_tokenizer = part(value);
        if (key == "post_processor") file_.post_processor = part(value);
        if (key == "decoder") file_.decoder = part(value);
        if (key == "model") {
          check(!has_model, "is there twice");
          has_model = true;
          read_model(value);
        }
      }
      at("model");
      check(has_model, "is missing");
    } catch (const simdjson::simdjson_error& e) {
      fail(Code::kCorruptData, file_.name, ": ", where_, ": ", e.what());
    }
    return std::move(file_);
  }

 private:
  void at(std::string_view where) { where_ = where; }

  template <class... Parts>
  void check(bool condition, const Parts&... parts) const {
    if (!condition) [[unlikely]]
      fail(Code::kCorruptData, file_.name, ": ", where_, ": ", parts...);
  }

  // A small part of the file as a JSON value.
  Json part(od::value& value) const {
    const od::json_type type = value.type();
    if (type == od::json_type::null) return Json();
    check(type == od::json_type::object, "must be an object or null");
    od::object object = value.get_object();
    const std::string_view raw = object.raw_json();
    try {
      return Json::parse(raw);
    } catch (const Error&) {
      rethrow_with(file_.name + ": " + where_);
    }
  }

  int32_t checked_id(int64_t id, std::string_view token) const {
    check(id >= 0 && id <= kMaxId, "token \"", token, "\" has id ", id, "; ids go from 0 to ",
          kMaxId);
    return static_cast<int32_t>(id);
  }

  static bool is_null(od::value& value) { return value.type() == od::json_type::null; }
  static void set(bool& to, od::value& value) {
    if (!is_null(value)) to = bool(value.get_bool());
  }
  static void set(std::string& to, od::value& value) {
    if (!is_null(value)) to = std::string_view(value.get_string());
  }

  void read_added(od::value& value) {
    if (is_null(value)) return;
    for (auto element : value.get_array()) {
      AddedToken token;
      od::object object = element.get_object();
      for (auto field : object) {
        const std::string_view key = field.unescaped_key();
        od::value v = field.value();
        if (key == "content") token.content = std::string_view(v.get_string());
        if (key == "id") {
          int64_t id = -1;
          check(v.get_int64().get(id) == simdjson::SUCCESS, "an id is not an integer");
          token.id = checked_id(id, token.content);
        }
        if (key == "single_word") token.single_word = v.get_bool();
        if (key == "lstrip") token.lstrip = v.get_bool();
        if (key == "rstrip") token.rstrip = v.get_bool();
        if (key == "normalized") token.normalized = v.get_bool();
        if (key == "special") token.special = v.get_bool();
      }
      check(token.id >= 0, "token \"", token.content, "\" has no id");
      file_.added.push_back(std::move(token));
    }
  }

  void read_model(od::value& value) {
    ModelFile& m = file_.model;
    check(value.type() == od::json_type::object, "must be an object");
    od::object model = value.get_object();
    bool has_vocab = false;
    bool has_prefix = false;
    bool has_merges = false;
    bool is_late = false;
    std::string type;
    for (auto field : model) {
      const std::string_view key = field.unescaped_key();
      od::value v = field.value();
      at(std::string("model.").append(key));
      if (key == "type") set(type, v);
      if (key == "continuing_subword_prefix") {
        has_prefix = true;
        set(m.continuing_subword_prefix, v);
      }
      if (key == "vocab") {
        check(!has_vocab, "is there twice");
        has_vocab = true;
        read_vocab(v);
      } else if (key == "merges") {
        has_merges = true;
        is_late = !has_vocab || !has_prefix;
        if (!is_late) read_merges(v);
      } else {
        read_option(key, v);
      }
    }
    at("model.vocab");
    check(has_vocab, "is missing");
    at("model.type");
    set_kind(type, has_merges);
    if (is_late) {
      at("model.merges");
      model.reset();
      od::value v = model.find_field_unordered("merges");
      read_merges(v);
    }
    check_model(has_merges);
  }

  void read_option(std::string_view key, od::value& v) {
    ModelFile& m = file_.model;
    if (key == "end_of_word_suffix") set(m.end_of_word_suffix, v);
    if (key == "fuse_unk") set(m.fuse_unk, v);
    if (key == "byte_fallback") set(m.byte_fallback, v);
    if (key == "ignore_merges") set(m.ignore_merges, v);
    if (key == "unk_token") set(m.unk_token, v);
    if (key == "max_input_chars_per_word") m.max_input_chars_per_word = v.get_int64();
    if (key == "unk_id" && !is_null(v)) m.unk_id = v.get_int64();
    if (key == "dropout" && !is_null(v) && double(v.get_double()) != 0.0) {
      fail(Code::kUnsupported, file_.name,
           ": model.dropout is not 0; random merges are not supported");
    }
  }

  void set_kind(const std::string& type, bool has_merges) {
    const bool has_scores = !file_.model.scores.empty();
    if (type == "BPE" || (type.empty() && has_merges)) {
      file_.model.kind = ModelKind::kBpe;
    } else if (type == "Unigram" || (type.empty() && has_scores)) {
      file_.model.kind = ModelKind::kUnigram;
    } else if (type == "WordPiece") {
      file_.model.kind = ModelKind::kWordPiece;
    } else if (type == "WordLevel") {
      file_.model.kind = ModelKind::kWordLevel;
    } else {
      fail(Code::kUnsupported, file_.name, ": model.type is \"", type,
           "\"; supported are BPE, Unigram, WordPiece and WordLevel");
    }
    at("model.vocab");
    check(has_scores == (file_.model.kind == ModelKind::kUnigram),
          has_scores ? "must be an object of token to id" : "must be an array of [piece, score]");
  }

  void check_model(bool has_merges) {
    const ModelFile& m = file_.model;
    at("model.merges");
    check(has_merges || m.kind != ModelKind::kBpe, "is missing");
    at("model.unk_id");
    check(m.unk_id >= -1 && m.unk_id < m.vocab->size(), "is ", m.unk_id,
          ", outside of the vocabulary");
    at("model.max_input_chars_per_word");
    check(m.max_input_chars_per_word > 0, "must be at least 1");
    at("model.unk_token");
    check(m.unk_token.empty() || m.kind == ModelKind::kUnigram || m.vocab->find(m.unk_token) >= 0,
          "\"", m.unk_token, "\" is not in the vocabulary");
  }

  void read_vocab(od::value& value) {
    Vocab& vocab = *file_.model.vocab;
    if (value.type() == od::json_type::array) return read_pieces(value);
    check(value.type() == od::json_type::object, "must be an object of token to id");
    od::object object = value.get_object();
    const auto count = static_cast<int64_t>(size_t(object.count_fields()));
    vocab.reserve(count, count * 7);
    for (auto field : object) {
      const std::string_view token = field.unescaped_key();
      int64_t number = 0;
      check(field.value().get_int64().get(number) == simdjson::SUCCESS, "the id of \"", token,
            "\" is not an integer");
      const int32_t id = checked_id(number, token);
      const Vocab::Added added = vocab.add(token, id);
      check(added != Vocab::Added::kTokenTaken, "token \"", token, "\" has two ids, ",
            vocab.find(token), " and ", id);
      check(added != Vocab::Added::kIdTaken, "id ", id, " belongs to two tokens, \"",
            vocab.token_of(id).value_or(""), "\" and \"", token, "\"");
    }
  }

  void read_pieces(od::value& value) {
    ModelFile& m = file_.model;
    int32_t id = 0;
    for (auto element : value.get_array()) {
      std::string_view piece;
      double score = 0;
      int i = 0;
      for (auto part : element.get_array()) {
        if (i == 0) piece = part.get_string();
        if (i == 1) score = part.get_double();
        ++i;
      }
      check(i == 2, "piece ", id, " is not a pair [piece, score]");
      check(std::isfinite(score), "piece ", id, " has no finite score");
      if (m.vocab->add(piece, id) == Vocab::Added::kTokenTaken) m.vocab->add_hidden(piece, id);
      m.scores.push_back(score);
      ++id;
    }
    check(id > 0, "is empty");
  }

  void read_merges(od::value& value) {
    std::string joined;
    std::string left;
    for (auto element : value.get_array()) {
      od::value merge = element.value();
      std::string_view right;
      if (merge.type() == od::json_type::string) {
        const std::string_view pair = merge.get_string();
        const size_t space = pair.find(' ');
        check(
            space != std::string_view::npos && pair.find(' ', space + 1) == std::string_view::npos,
            "number ", file_.model.merges.size(), " (\"", pair,
            "\") is not two tokens with a space between");
        left = pair.substr(0, space);
        right = pair.substr(space + 1);
      } else {
        check(merge.type() == od::json_type::array, "number ", file_.model.merges.size(),
              " is not a pair");
        int i = 0;
        for (auto half : merge.get_array()) {
          const std::string_view text = half.get_string();
          if (i == 0) left = text;
          if (i == 1) right = text;
          ++i;
        }
        check(i == 2, "number ", file_.model.merges.size(), " is not a pair");
      }
      add_merge(left, right, joined);
    }
  }

  void add_merge(std::string_view left, std::string_view right, std::string& joined) {
    ModelFile& m = file_.model;
    const std::string& prefix = m.continuing_subword_prefix;
    joined.assign(left);
    joined.append(!prefix.empty() && right.starts_with(prefix) ? right.substr(prefix.size())
                                                               : right);
    const Merge merge{m.vocab->find(left), m.vocab->find(right), m.vocab->find(joined)};
    const auto missing = [&](std::string_view token) {
      check(false, "number ", m.merges.size(), " (\"", left, "\", \"", right,
            "\") needs the token \"", token, "\", which model.vocab lacks");
    };
    if (merge.left < 0) missing(left);
    if (merge.right < 0) missing(right);
    if (merge.product < 0) missing(joined);
    check(!left.empty() && !right.empty(), "number ", m.merges.size(), " has an empty half");
    m.merges.push_back(merge);
  }

  TokenizerFile file_;
  std::string where_;
  od::parser parser_;
  simdjson::padded_string padded_;
};

}  // namespace

TokenizerFile read_tokenizer_file(std::string_view json, std::string_view name) {
  require_data(static_cast<int64_t>(json.size()) <= kMaxFileBytes, name,
               ": the file is over 1 GiB");
  return Reader(json, name).read();
}

}  // namespace hearth::text
