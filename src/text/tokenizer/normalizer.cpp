#include "text/tokenizer/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <variant>

#include "base/error.h"
#include "text/tokenizer/char_class.h"
#include "text/tokenizer/charsmap.h"
#include "text/tokenizer/normal_forms.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

constexpr int64_t kMaxSteps = 256;
constexpr size_t kMaxGrowth = 64;  // times the input, for each step; growth beyond is an error

struct Form {
  NormalForm form;
};
struct Lower {};
struct Strip {
  bool left, right;
};
struct StripMarks {};
struct Replace {
  Matcher matcher;
  std::string content;
};
struct Prepend {
  std::string prefix;
};
struct Bert {
  bool clean_text, handle_chinese_chars, strip_accents, lowercase;
};
struct Mapped {
  std::shared_ptr<const Charsmap> map;
};
struct Nmt {};
struct StandIns {};

// Appends `map(c)`'s characters for every character of `text`.
template <class Map>
std::string map_chars(std::string_view text, Map map) {
  std::string out;
  out.reserve(text.size());
  for (const char* p = text.data(); p < text.data() + text.size();) {
    const Decoded d = decode_utf8(p);
    p = d.next;
    map(d.c, out);
  }
  return out;
}

std::string lowercase(std::string_view text) {
  return map_chars(text, [](char32_t c, std::string& out) {
    if (c == 0x130) {  // the only letter whose small form is two characters
      out.append("i\u0307");
    } else {
      append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  });
}

std::string without(std::string_view text, uint16_t classes) {
  const CharClasses& table = CharClasses::get();
  return map_chars(text, [&](char32_t c, std::string& out) {
    if (!table.is(c, classes)) append_utf8(out, c);
  });
}

std::string_view stripped(std::string_view text, const Strip& strip) {
  const CharClasses& table = CharClasses::get();
  while (strip.left && !text.empty()) {
    const Decoded d = decode_utf8(text.data());
    if (!table.is(d.c, kSpace)) break;
    text.remove_prefix(static_cast<size_t>(d.next - text.data()));
  }
  while (strip.right && !text.empty()) {
    const char* last = text.data() + text.size() - 1;
    while ((static_cast<unsigned char>(*last) & 0xC0U) == 0x80) --last;
    if (!table.is(decode_utf8(last).c, kSpace)) break;
    text.remove_suffix(static_cast<size_t>(text.data() + text.size() - last));
  }
  return text;
}

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string bert(std::string_view text, const Bert& b) {
  const CharClasses& table = CharClasses::get();
  std::string out = map_chars(text, [&](char32_t c, std::string& to) {
    if (b.clean_text) {
      const bool is_blank = c == '\t' || c == '\n' || c == '\r';
      if (c == 0 || c == kReplacement || (!is_blank && table.is(c, kOther))) return;
      if (is_blank || table.is(c, kSpace)) c = ' ';
    }
    const bool is_apart = b.handle_chinese_chars && is_chinese(c);
    if (is_apart) to.push_back(' ');
    append_utf8(to, c);
    if (is_apart) to.push_back(' ');
  });
  if (b.strip_accents) out = without(to_normal_form(out, NormalForm::kNfd), kNonspacing);
  if (b.lowercase) out = lowercase(out);
  return out;
}

std::string nmt(std::string_view text) {
  return map_chars(text, [](char32_t c, std::string& out) {
    const bool is_dropped = (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
                            c == 0x7F || c == 0x8F || c == 0x9F;
    if (is_dropped) return;
    const bool is_space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                          (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                          c == 0x2581 || c == 0xFEFF || c == kReplacement;
    append_utf8(out, is_space ? U' ' : c);
  });
}

std::string replaced(std::string_view text, const Replace& r, RegexScratch& scratch,
                     StepBudget& budget) {
  std::string out;
  out.reserve(text.size());
  const auto size = static_cast<int64_t>(text.size());
  const size_t most = text.size() * kMaxGrowth + r.content.size() + kMaxGrowth;
  int64_t done = 0;
  for (int64_t from = 0; from <= size;) {
    const auto found = r.matcher.find(text, from, scratch, budget);
    if (!found) break;
    out.append(text, static_cast<size_t>(done), static_cast<size_t>(found->begin - done));
    out.append(r.content);
    if (out.size() > most) fail(Code::kResourceExhausted, "the normalizer makes the text too long");
    done = found->end;
    from = done;
    if (found->end == found->begin) {
      if (done == size) break;
      from = decode_utf8(text.data() + done).next - text.data();
    }
  }
  out.append(text, static_cast<size_t>(done));
  return out;
}

}  // namespace

struct Normalizer::Step {
  std::variant<Form, Lower, Strip, StripMarks, Replace, Prepend, Bert, Mapped, Nmt, StandIns> what;
};

Normalizer::Normalizer() = default;
Normalizer::~Normalizer() = default;
Normalizer::Normalizer(Normalizer&&) noexcept = default;
Normalizer& Normalizer::operator=(Normalizer&&) noexcept = default;

Normalizer::Normalizer(const Json& json, std::string_view where) {
  if (!json.is_null()) parse(json, std::string(where));
}

void Normalizer::parse(const Json& json, const std::string& where) {
  require_data(static_cast<int64_t>(steps_.size()) < kMaxSteps, where, ": more than ", kMaxSteps,
               " steps");
  require_data(json.is_object(), where, " must be an object");
  const std::string type = json.get_string("type", "");
  const auto add = [&]<class T>(T step) {
    steps_.emplace_back();
    steps_.back().what.emplace<T>(std::move(step));
  };
  if (type == "Sequence") {
    const Json& list = json.at("normalizers");
    require_data(list.is_array(), where, ".normalizers must be an array");
    for (int64_t i = 0; i < list.size(); ++i)
      parse(list[i], where + ".normalizers[" + std::to_string(i) + "]");
  } else if (type == "NFC") {
    add(Form{NormalForm::kNfc});
  } else if (type == "NFD") {
    add(Form{NormalForm::kNfd});
  } else if (type == "NFKC") {
    add(Form{NormalForm::kNfkc});
  } else if (type == "NFKD") {
    add(Form{NormalForm::kNfkd});
  } else if (type == "Lowercase") {
    add(Lower{});
  } else if (type == "Strip") {
    add(Strip{json.get_bool("strip_left", true), json.get_bool("strip_right", true)});
  } else if (type == "StripAccents") {
    add(StripMarks{});
  } else if (type == "Replace") {
    add(Replace{Matcher::parse(json.at("pattern"), where), json.get_string("content", "")});
  } else if (type == "Prepend") {
    add(Prepend{json.get_string("prepend", "")});
  } else if (type == "BertNormalizer") {
    const bool lower = json.get_bool("lowercase", true);
    add(Bert{json.get_bool("clean_text", true), json.get_bool("handle_chinese_chars", true),
             json.get_bool("strip_accents", lower), lower});
  } else if (type == "Precompiled") {
    if (const Json* map = json.find_value("precompiled_charsmap");
        map != nullptr && !map->as_string().empty()) {
      add(Mapped{std::make_shared<const Charsmap>(map->as_string(), where)});
    }
  } else if (type == "Nmt") {
    add(Nmt{});
  } else if (type == "ByteLevel") {
    add(StandIns{});
  } else {
    fail(Code::kUnsupported, where, ".type is \"", type,
         "\"; supported are BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, "
         "Precompiled, Prepend, "
         "Replace, Sequence, Strip and StripAccents");
  }
}

std::string_view Normalizer::run(std::string_view text, std::string& buffer, RegexScratch& scratch,
                                 StepBudget& budget) const {
  const size_t most = text.size() * kMaxGrowth + 4096;
  for (const Step& step : steps_) {
    if (text.empty()) break;
    std::string out;
    if (const auto* form = std::get_if<Form>(&step.what)) {
      if (is_surely_normal(text, form->form)) continue;
      out = to_normal_form(text, form->form);
    } else if (std::holds_alternative<Lower>(step.what)) {
      out = lowercase(text);
    } else if (const auto* strip = std::get_if<Strip>(&step.what)) {
      out = stripped(text, *strip);
    } else if (std::holds_alternative<StripMarks>(step.what)) {
      out = without(text, kMark);
    } else if (const auto* replace = std::get_if<Replace>(&step.what)) {
      out = replaced(text, *replace, scratch, budget);
    } else if (const auto* prepend = std::get_if<Prepend>(&step.what)) {
      out = prepend->prefix;
      out.append(text);
    } else if (const auto* b = std::get_if<Bert>(&step.what)) {
      out = bert(text, *b);
    } else if (const auto* mapped = std::get_if<Mapped>(&step.what)) {
      out = mapped->map->normalize(text);
    } else if (std::holds_alternative<Nmt>(step.what)) {
      out = nmt(text);
    } else {
      append_stand_ins(text, out);
    }
    if (out.size() > most) fail(Code::kResourceExhausted, "the normalizer makes the text too long");
    buffer = std::move(out);
    text = buffer;
  }
  return text;
}

}  // namespace hearth::text
