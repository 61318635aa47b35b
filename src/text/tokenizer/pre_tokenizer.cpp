#include "text/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "text/tokenizer/char_class.h"
#include "text/tokenizer/scripts.h"
#include "text/unicode.h"

namespace hearth::text {
namespace {

constexpr int64_t kMaxSteps = 256;
constexpr size_t kMaxGrowth = 32;  // times the input, for all steps together

SplitBehavior parse_behavior(const std::string& name, const std::string& where) {
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  fail(Code::kUnsupported, where, ".behavior is \"", name,
       "\"; supported are Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous");
}

MetaspaceStep parse_metaspace(const Json& json, const std::string& where) {
  MetaspaceStep step{json.get_string("replacement", "\u2581"), MetaspaceStep::Prepend::kAlways};
  const std::string scheme = json.get_string("prepend_scheme", "");
  const bool is_off = !json.get_bool("add_prefix_space", true);
  if (scheme == "never" || (scheme.empty() && is_off)) {
    step.prepend = MetaspaceStep::Prepend::kNever;
  } else if (scheme == "first") {
    step.prepend = MetaspaceStep::Prepend::kFirst;
  } else {
    require_data(scheme.empty() || scheme == "always", where, ".prepend_scheme is \"", scheme,
                 "\"; it must be first, always or never");
  }
  require_data(!step.replacement.empty() && step.replacement != " " &&
                   decode_utf8(step.replacement.data()).next ==
                       step.replacement.data() + step.replacement.size(),
               where, ".replacement must be one character and no space");
  return step;
}

SplitStep split_on(uint16_t classes, SplitBehavior behavior, bool ascii_punctuation = false) {
  return {Matcher(CharSet{classes, ascii_punctuation}), behavior, false};
}

// The pieces of one range after a split step, appended to `out`.
class Splitter {
 public:
  Splitter(const SplitStep& step, std::vector<TextRange>& out) : step_(step), out_(out) {}

  void run(std::string_view text, TextRange range, RegexScratch& scratch, StepBudget& budget) {
    const std::string_view piece =
        text.substr(static_cast<size_t>(range.begin), static_cast<size_t>(range.end - range.begin));
    const auto size = static_cast<int64_t>(piece.size());
    base_ = range.begin;
    first_ = out_.size();
    was_match_ = false;
    int64_t done = 0;
    int64_t from = 0;
    while (from <= size) {
      const auto found = step_.matcher.find(piece, from, scratch, budget);
      if (!found) break;
      if (found->end <= found->begin) {  // an empty match only marks a place to cut
        if (found->begin > done || done == 0) {
          add(done, found->begin, /*is_match=*/false);
          add(found->begin, found->begin, /*is_match=*/true);
          done = found->begin;
        }
        if (found->begin >= size) break;
        from = decode_utf8(piece.data() + found->begin).next - piece.data();
        continue;
      }
      if (found->begin > done) add(done, found->begin, /*is_match=*/false);
      add(found->begin, found->end, /*is_match=*/true);
      done = found->end;
      from = done;
    }
    if (done < size) add(done, size, /*is_match=*/false);
    flush();
  }

 private:
  void push(int64_t begin, int64_t end) { out_.push_back({base_ + begin, base_ + end}); }

  void add(int64_t begin, int64_t end, bool is_match) {
    is_match = is_match != step_.invert;
    switch (step_.behavior) {
      case SplitBehavior::kRemoved:
        if (!is_match) push(begin, end);
        break;
      case SplitBehavior::kIsolated:
        push(begin, end);
        break;
      case SplitBehavior::kContiguous:
        if (out_.size() > first_ && was_match_ == is_match) {
          out_.back().end = base_ + end;
        } else {
          push(begin, end);
        }
        break;
      case SplitBehavior::kMergedWithPrevious:
        if (is_match && !was_match_ && out_.size() > first_) {
          out_.back().end = base_ + end;
        } else {
          push(begin, end);
        }
        break;
      case SplitBehavior::
          kMergedWithNext:  // a match waits for what follows; of several, the last does
        if (waiting_ && is_match) push(waiting_->begin, waiting_->end);
        if (is_match) {
          waiting_ = TextRange{begin, end};
        } else {
          push(waiting_ ? waiting_->begin : begin, end);
          waiting_.reset();
        }
        break;
    }
    was_match_ = is_match;
  }

  void flush() {
    if (waiting_) push(waiting_->begin, waiting_->end);
    waiting_.reset();
    // Empty pieces took part in the merging; now they go.
    const auto begin = out_.begin() + static_cast<int64_t>(first_);
    out_.erase(std::remove_if(begin, out_.end(), [](TextRange r) { return r.begin == r.end; }),
               out_.end());
  }

  const SplitStep& step_;
  std::vector<TextRange>& out_;
  std::optional<TextRange> waiting_;
  int64_t base_ = 0;
  size_t first_ = 0;
  bool was_match_ = false;
};

// The text with every piece rewritten; `rewrite(piece, begin, out)` appends the new piece.
template <class Rewrite>
void rewrite_pieces(Pieces& pieces, Rewrite rewrite) {
  std::string out;
  out.reserve(pieces.text.size() + pieces.text.size() / 4 + 16);
  const size_t most = pieces.input_bytes * kMaxGrowth + kMaxGrowth;
  for (TextRange& r : pieces.ranges) {
    const auto begin = static_cast<int64_t>(out.size());
    rewrite(pieces.text.substr(static_cast<size_t>(r.begin), static_cast<size_t>(r.end - r.begin)),
            r.begin, out);
    r = {begin, static_cast<int64_t>(out.size())};
    if (out.size() > most)
      fail(Code::kResourceExhausted, "the pre-tokenizer makes the text too long");
  }
  pieces.buffer = std::move(out);
  pieces.text = pieces.buffer;
}

void rewrite(const MetaspaceStep& step, bool at_start, Pieces& pieces) {
  rewrite_pieces(pieces, [&](std::string_view piece, int64_t begin, std::string& out) {
    const bool may_prepend =
        step.prepend == MetaspaceStep::Prepend::kAlways ||
        (step.prepend == MetaspaceStep::Prepend::kFirst && at_start && begin == 0);
    if (may_prepend && !piece.starts_with(' ') && !piece.starts_with(step.replacement)) {
      out.append(step.replacement);
    }
    for (size_t done = 0; done < piece.size();) {
      const size_t space = std::min(piece.find(' ', done), piece.size());
      out.append(piece, done, space - done);
      if (space < piece.size()) out.append(step.replacement);
      done = space + 1;
    }
  });
}

void add_prefix_spaces(Pieces& pieces) {
  rewrite_pieces(pieces, [](std::string_view piece, int64_t, std::string& out) {
    if (!piece.starts_with(' ')) out.push_back(' ');
    out.append(piece);
  });
}

void write_stand_ins(Pieces& pieces) {
  rewrite_pieces(pieces, [](std::string_view piece, int64_t, std::string& out) {
    append_stand_ins(piece, out);
  });
}

}  // namespace

PreTokenizer::PreTokenizer(const Json& json, std::string_view where) {
  if (!json.is_null()) parse(json, std::string(where));
}

void PreTokenizer::parse(const Json& json, const std::string& where) {
  require_data(static_cast<int64_t>(steps_.size()) < kMaxSteps, where, ": more than ", kMaxSteps,
               " steps");
  require_data(json.is_object(), where, " must be an object");
  const std::string type = json.get_string("type", "");
  const auto add = [&](PreTokenizerStep step) { steps_.push_back(std::move(step)); };
  if (type == "Sequence") {
    const Json& list = json.at("pretokenizers");
    require_data(list.is_array(), where, ".pretokenizers must be an array");
    for (int64_t i = 0; i < list.size(); ++i)
      parse(list[i], where + ".pretokenizers[" + std::to_string(i) + "]");
  } else if (type == "ByteLevel") {
    if (json.get_bool("add_prefix_space", true)) add(PrefixSpaceStep{});
    if (json.get_bool("use_regex", true))
      add(SplitStep{Matcher(KnownPattern::kGpt2), SplitBehavior::kIsolated, false});
    add(StandInStep{});
  } else if (type == "Split") {
    add(SplitStep{Matcher::parse(json.at("pattern"), where),
                  parse_behavior(json.get_string("behavior", ""), where),
                  json.get_bool("invert", false)});
  } else if (type == "Metaspace") {
    const MetaspaceStep step = parse_metaspace(json, where);
    add(step);
    if (json.get_bool("split", true)) {
      add(SplitStep{Matcher(step.replacement), SplitBehavior::kMergedWithNext, false});
    }
  } else if (type == "Whitespace") {
    add(SplitStep{Matcher(KnownPattern::kWords), SplitBehavior::kRemoved, true});
  } else if (type == "WhitespaceSplit") {
    add(split_on(kSpace, SplitBehavior::kRemoved));
  } else if (type == "Digits") {
    if (json.get_bool("individual_digits", false)) {
      add(SplitStep{Matcher(KnownPattern::kDigit), SplitBehavior::kIsolated, false});
    } else {
      add(split_on(kNumber, SplitBehavior::kContiguous));
    }
  } else if (type == "Punctuation") {
    add(split_on(kPunctuation, parse_behavior(json.get_string("behavior", "Isolated"), where),
                 true));
  } else if (type == "BertPreTokenizer") {
    add(split_on(kSpace, SplitBehavior::kRemoved));
    add(split_on(kPunctuation, SplitBehavior::kIsolated, true));
  } else if (type == "CharDelimiterSplit") {
    add(SplitStep{Matcher(json.require_string("delimiter")), SplitBehavior::kRemoved, false});
  } else if (type == "UnicodeScripts") {
    add(SplitStep{Matcher(Regex(script_run_pattern(), where)), SplitBehavior::kRemoved, true});
  } else {
    fail(Code::kUnsupported, where, ".type is \"", type,
         "\"; supported are BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, Metaspace, "
         "Punctuation, "
         "Sequence, Split, UnicodeScripts, Whitespace and WhitespaceSplit");
  }
}

bool PreTokenizer::ends_in_byte_level() const {
  return !steps_.empty() && std::holds_alternative<StandInStep>(steps_.back());
}

void PreTokenizer::take_bytes() {
  HEARTH_CHECK(ends_in_byte_level());
  steps_.pop_back();
}

KnownPattern PreTokenizer::single_pattern() const {
  const SplitStep* only = steps_.size() == 1 ? std::get_if<SplitStep>(&steps_.front()) : nullptr;
  if (only == nullptr || !covers_text(only->matcher.known())) return KnownPattern::kNone;
  // Where matches leave no gap, keeping only the matches is isolating them.
  const bool keeps_matches = (only->behavior == SplitBehavior::kIsolated && !only->invert) ||
                             (only->behavior == SplitBehavior::kRemoved && only->invert);
  return keeps_matches ? only->matcher.known() : KnownPattern::kNone;
}

void PreTokenizer::run(std::string_view text, bool at_start, Pieces& pieces, StepBudget& budget,
                       Consumer consume) const {
  if (text.empty()) return;
  pieces.text = text;
  pieces.input_bytes = text.size();
  pieces.levels.resize(steps_.size());
  pieces.ranges.assign(1, {0, static_cast<int64_t>(text.size())});
  size_t done = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (std::holds_alternative<SplitStep>(steps_[i])) continue;
    // A step that rewrites the text needs all pieces of the splits before it.
    std::vector<TextRange> all;
    run_splits(done, i, pieces.ranges, pieces, budget,
               [&](std::string_view, std::span<const TextRange> some) {
                 all.insert(all.end(), some.begin(), some.end());
               });
    pieces.ranges = std::move(all);
    if (const auto* metaspace = std::get_if<MetaspaceStep>(&steps_[i]))
      rewrite(*metaspace, at_start, pieces);
    if (std::holds_alternative<PrefixSpaceStep>(steps_[i])) add_prefix_spaces(pieces);
    if (std::holds_alternative<StandInStep>(steps_[i])) write_stand_ins(pieces);
    done = i + 1;
  }
  run_splits(done, steps_.size(), pieces.ranges, pieces, budget, consume);
}

void PreTokenizer::run_splits(size_t step, size_t end, std::span<const TextRange> ranges,
                              Pieces& pieces, StepBudget& budget, Consumer consume) const {
  if (ranges.empty()) return;
  if (step == end) return consume(pieces.text, ranges);
  std::vector<TextRange>& out = pieces.levels[step];
  const auto flush = [&] {
    run_splits(step + 1, end, out, pieces, budget, consume);
    out.clear();
  };
  out.clear();
  const SplitStep& split = std::get<SplitStep>(steps_[step]);
  const KnownPattern known = split.matcher.known();
  if (known != KnownPattern::kNone && split.behavior == SplitBehavior::kIsolated && !split.invert) {
    isolate_known(known, pieces.text, ranges, out, flush);
  } else {
    Splitter splitter(split, out);
    for (const TextRange r : ranges) {
      splitter.run(pieces.text, r, pieces.regex, budget);
      if (out.size() >= kPieceBatch) flush();
    }
  }
  flush();
}

}  // namespace hearth::text
