#include "text/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"

namespace hearth::text {
namespace {

constexpr int64_t kMaxPatternBytes = 64 * 1024;
// Matching tries with few steps first; what needs more pays for it out of the budget.
constexpr uint32_t kCheapSteps = 500;
constexpr uint32_t kMaxSteps = 1'000'000;
constexpr uint32_t kMaxDepth = 20'000;
constexpr uint32_t kMaxHeapKiB = 64 * 1024;
constexpr size_t kJitStackBytes = 1024 * 1024;

constexpr std::string_view kSpaceSet = R"(\x09-\x0d\x{85}\p{Z})";
constexpr std::string_view kWordSet = R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d})";

// Oniguruma to PCRE2: \s without U+180E, \w with marks and connectors, nested classes flattened.
class Translator {
 public:
  Translator(std::string_view pattern, std::string_view where) : in_(pattern), where_(where) {}

  std::string run() {
    while (i_ < in_.size()) {
      const char c = in_[i_];
      if (c == '\\' && i_ + 1 < in_.size()) {
        escape();
      } else if (c == '[') {
        open();
      } else if (c == ']' && depth_ > 0) {
        --depth_;
        ++i_;
        if (depth_ == 0) out_.push_back(']');
      } else if (c == '&' && depth_ > 0 && in_.substr(i_).starts_with("&&")) {
        fail(Code::kUnsupported, where_, ": class intersections (&&) are not supported in \"", in_,
             "\"");
      } else {
        out_.push_back(c);
        ++i_;
      }
    }
    return std::move(out_);
  }

 private:
  void escape() {
    const char c = in_[i_ + 1];
    const auto put_class = [&](std::string_view set, bool is_negated) {
      if (depth_ > 0 && is_negated) {
        out_.append(in_, i_, 2);  // PCRE2's own \S or \W is as near as a class can say
      } else if (depth_ > 0) {
        out_.append(set);
      } else {
        out_.append(is_negated ? "[^" : "[").append(set).push_back(']');
      }
    };
    if (c == 's' || c == 'S') {
      put_class(kSpaceSet, c == 'S');
    } else if (c == 'w' || c == 'W') {
      put_class(kWordSet, c == 'W');
    } else {
      out_.append(in_, i_, 2);
    }
    i_ += 2;
  }

  void open() {
    if (depth_ > 0 && in_.substr(i_).starts_with("[:")) {  // [:alpha:]
      const size_t close = in_.find(":]", i_);
      if (close != std::string_view::npos) {
        out_.append(in_, i_, close + 2 - i_);
        i_ = close + 2;
        return;
      }
    }
    const bool is_negated = in_.substr(i_).starts_with("[^");
    if (depth_ > 0 && is_negated) {
      fail(Code::kUnsupported, where_, ": a negated class within a class is not supported in \"",
           in_, "\"");
    }
    if (depth_ == 0) out_.append(is_negated ? "[^" : "[");
    i_ += is_negated ? 2 : 1;
    ++depth_;
    if (i_ < in_.size() && in_[i_] == ']' && depth_ == 1) {  // a first ] is a character
      out_.append("\\]");
      ++i_;
    }
  }

  std::string_view in_;
  std::string_view where_;
  std::string out_;
  size_t i_ = 0;
  int depth_ = 0;
};

}  // namespace

struct Regex::Impl {
  pcre2_code* code = nullptr;
  bool has_jit = false;
  std::string where;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { pcre2_code_free(code); }
};

Regex::Regex(std::string_view pattern, std::string_view where) {
  require_data(static_cast<int64_t>(pattern.size()) <= kMaxPatternBytes, where,
               ": a regular expression is over 64 KiB");
  const std::string translated = Translator(pattern, where).run();
  auto impl = std::make_shared<Impl>();
  impl->where = where;
  int error = 0;
  PCRE2_SIZE offset = 0;
  impl->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  if (impl->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    fail(Code::kCorruptData, where, ": the regular expression \"", pattern,
         "\" is not valid near byte ", static_cast<int64_t>(offset), ": ",
         reinterpret_cast<const char*>(message.data()));
  }
  impl->has_jit = pcre2_jit_compile(impl->code, PCRE2_JIT_COMPLETE) == 0;
  impl_ = std::move(impl);
}

std::string Regex::escape(std::string_view literal) {
  std::string out;
  for (const char c : literal) {
    if (std::strchr("\\^$.|?*+()[]{}-#&~ \t\n\r\v\f", c) != nullptr && c != '\0')
      out.push_back('\\');
    if (c == '\0') {
      out.append("\\x00");
    } else {
      out.push_back(c);
    }
  }
  return out;
}

struct RegexScratch::Impl {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(32 * 1024, kJitStackBytes, nullptr);

  Impl() {
    HEARTH_CHECK(data != nullptr && context != nullptr && stack != nullptr);
    pcre2_jit_stack_assign(context, nullptr, stack);
    pcre2_set_depth_limit(context, kMaxDepth);
    pcre2_set_heap_limit(context, kMaxHeapKiB);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
};

RegexScratch::RegexScratch() = default;
RegexScratch::~RegexScratch() = default;
RegexScratch::RegexScratch(RegexScratch&&) noexcept = default;
RegexScratch& RegexScratch::operator=(RegexScratch&&) noexcept = default;

std::optional<RegexScratch::Match> RegexScratch::find(const Regex& regex, std::string_view text,
                                                      int64_t from, StepBudget& budget) {
  if (impl_ == nullptr) impl_ = std::make_unique<Impl>();
  const auto run = [&](uint32_t steps) {
    pcre2_set_match_limit(impl_->context, steps);
    return pcre2_match(regex.impl().code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                       static_cast<PCRE2_SIZE>(from), PCRE2_NO_UTF_CHECK, impl_->data,
                       impl_->context);
  };
  int rc = run(kCheapSteps);
  if (rc == PCRE2_ERROR_MATCHLIMIT) {
    const int64_t steps = std::min<int64_t>(kMaxSteps, budget.left);
    budget.left -= steps;
    rc = run(static_cast<uint32_t>(std::max<int64_t>(steps, 0)));
  }
  if (rc == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (rc < 0) {
    fail(Code::kResourceExhausted, regex.impl().where,
         ": the regular expression takes too many steps on this text (PCRE2 error ", rc, ")");
  }
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(impl_->data);
  const Match match{static_cast<int64_t>(offsets[0]), static_cast<int64_t>(offsets[1])};
  if (match.begin > match.end || match.begin < from) {  // \K within a lookaround
    fail(Code::kUnsupported, regex.impl().where,
         ": the regular expression moves its start out of its match");
  }
  return match;
}

}  // namespace hearth::text
