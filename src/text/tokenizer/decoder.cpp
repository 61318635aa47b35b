#include "text/tokenizer/decoder.h"

#include <algorithm>

#include "base/error.h"
#include "text/tokenizer/decoder_text.h"
#include "text/tokenizer/model.h"

namespace hearth::text {
namespace {

constexpr int64_t kMaxSteps = 64;

// Bytes at the end of `text` that may be the beginning of `literal`.
size_t open_end(std::string_view text, std::string_view literal) {
  for (size_t n = std::min(text.size(), literal.size() - 1); n > 0; --n) {
    if (text.ends_with(literal.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

Decoder::Decoder(const Json& json, std::string_view where) {
  if (json.is_null()) {
    steps_.emplace_back(JoinDecode{});
  } else {
    parse(json, std::string(where));
  }
  for (size_t i = 0; i < steps_.size() && fused_from_ == INT64_MAX; ++i) {
    if (std::holds_alternative<FuseDecode>(steps_[i]) ||
        std::holds_alternative<ByteLevelDecode>(steps_[i])) {
      fused_from_ = static_cast<int64_t>(i);
    }
  }
}

void Decoder::parse(const Json& json, const std::string& where) {
  require_data(static_cast<int64_t>(steps_.size()) < kMaxSteps, where, ": more than ", kMaxSteps,
               " steps");
  require_data(json.is_object(), where, " must be an object");
  const std::string type = json.get_string("type", "");
  const auto add = [&](DecodeStep step) { steps_.push_back(std::move(step)); };
  if (type == "Sequence") {
    const Json& list = json.at("decoders");
    require_data(list.is_array(), where, ".decoders must be an array");
    for (int64_t i = 0; i < list.size(); ++i)
      parse(list[i], where + ".decoders[" + std::to_string(i) + "]");
  } else if (type == "ByteLevel") {
    add(ByteLevelDecode{});
  } else if (type == "ByteFallback") {
    add(ByteFallbackDecode{});
  } else if (type == "Fuse") {
    add(FuseDecode{});
  } else if (type == "Replace") {
    add(ReplaceDecode{Matcher::parse(json.at("pattern"), where), json.get_string("content", "")});
  } else if (type == "Strip") {
    const Json::IntRange range{0, 1 << 20};
    StripDecode step{json.get_string("content", " "), json.get_int("start", 0, range),
                     json.get_int("stop", 0, range)};
    require_data(!step.content.empty() && decode_utf8(step.content.data()).next ==
                                              step.content.data() + step.content.size(),
                 where, ".content must be one character");
    add(std::move(step));
  } else if (type == "Metaspace") {
    const bool is_never = json.get_string("prepend_scheme", "always") == "never" ||
                          !json.get_bool("add_prefix_space", true);
    add(MetaspaceDecode{json.get_string("replacement", "\u2581"), !is_never});
  } else if (type == "WordPiece") {
    add(WordPieceDecode{json.get_string("prefix", "##"), json.get_bool("cleanup", true)});
  } else if (type == "BPEDecoder") {
    add(BpeDecode{json.get_string("suffix", "</w>")});
  } else if (type == "CTC") {
    add(CtcDecode{json.get_string("pad_token", "<pad>"),
                  json.get_string("word_delimiter_token", "|"), json.get_bool("cleanup", true)});
  } else {
    fail(Code::kUnsupported, where, ".type is \"", type,
         "\"; supported are BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, "
         "Sequence, Strip and "
         "WordPiece");
  }
}

std::string Decoder::token_bytes(std::string_view token, bool is_added) const {
  RegexScratch scratch;
  std::string text(token);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const DecodeStep& step = steps_[i];
    if (std::holds_alternative<ByteLevelDecode>(step)) {
      return is_added ? text : bytes_of_stand_ins(text);
    }
    if (std::holds_alternative<ByteFallbackDecode>(step) && byte_of_token(text) >= 0) {
      return std::string(1, static_cast<char>(byte_of_token(text)));
    }
    if (const auto* replace = std::get_if<ReplaceDecode>(&step))
      text = replace_all(*replace, text, scratch);
    if (const auto* strip = std::get_if<StripDecode>(&step); strip != nullptr && !is_fused(i)) {
      text = std::string(strip_token(*strip, text));
    }
    if (const auto* space = std::get_if<MetaspaceDecode>(&step))
      text = decode_metaspace(*space, text, false);
    if (const auto* piece = std::get_if<WordPieceDecode>(&step))
      text = decode_word_piece(*piece, text, false);
    if (const auto* bpe = std::get_if<BpeDecode>(&step)) text = replace_all(text, bpe->suffix, " ");
    if (std::holds_alternative<JoinDecode>(step)) text.insert(0, " ");
  }
  return text;
}

void DecoderState::feed(size_t i, std::string_view token, bool is_added, std::string& out) {
  if (i == states_.size()) {
    out.append(token);
    return;
  }
  std::visit([&](const auto& step) { run(step, i, token, is_added, out); }, decoder_->steps()[i]);
  ++states_[i].seen;
}

void DecoderState::finish(std::string& out) {
  for (size_t i = 0; i < states_.size(); ++i) flush(i, out);
  for (StepState& state : states_) state = StepState();
}

void DecoderState::flush(size_t i, std::string& out) {
  StepState& state = states_[i];
  const DecodeStep& step = decoder_->steps()[i];
  std::string rest;
  if (std::holds_alternative<StripDecode>(step)) return;  // what it holds is what it strips
  if (const auto* replace = std::get_if<ReplaceDecode>(&step)) {
    rest = replace_all(*replace, state.held, regex_);
  } else if (const auto* bpe = std::get_if<BpeDecode>(&step)) {
    rest = replace_all(state.held, bpe->suffix, "");
  } else {
    state.joiner.finish(rest);
  }
  if (!rest.empty()) feed(i + 1, rest, false, out);
}

void DecoderState::run(const ByteLevelDecode&, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  std::string text;
  states_[i].joiner.push(is_added ? std::string(token) : bytes_of_stand_ins(token), text);
  if (!text.empty()) feed(i + 1, text, is_added, out);
}

void DecoderState::run(const ByteFallbackDecode&, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  std::string text;
  const int byte = byte_of_token(token);
  if (byte >= 0) {
    const char c = static_cast<char>(byte);
    states_[i].joiner.push({&c, 1}, text);
    if (!text.empty()) feed(i + 1, text, is_added, out);
    return;
  }
  states_[i].joiner.finish(text);
  if (!text.empty()) feed(i + 1, text, false, out);
  feed(i + 1, token, is_added, out);
}

void DecoderState::run(const FuseDecode&, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  feed(i + 1, token, is_added, out);
}

void DecoderState::run(const ReplaceDecode& step, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  if (!decoder_->is_fused(i)) {
    feed(i + 1, replace_all(step, token, regex_), is_added, out);
    return;
  }
  // A match may reach over the cut: a literal's possible beginning waits, and for an expression everything does.
  std::string& held = states_[i].held;
  held.append(token);
  const std::string* literal = step.matcher.literal();
  if (literal == nullptr || literal->empty()) return;
  std::string text;
  size_t done = 0;
  for (size_t at = held.find(*literal); at != std::string::npos; at = held.find(*literal, done)) {
    text.append(held, done, at - done).append(step.content);
    done = at + literal->size();
  }
  const std::string_view rest = std::string_view(held).substr(done);
  const size_t open = open_end(rest, *literal);
  text.append(rest.substr(0, rest.size() - open));
  held = std::string(rest.substr(rest.size() - open));
  if (!text.empty()) feed(i + 1, text, is_added, out);
}

void DecoderState::run(const StripDecode& step, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  if (!decoder_->is_fused(i)) {
    feed(i + 1, strip_token(step, token), is_added, out);
    return;
  }
  StepState& state = states_[i];
  while (!state.is_past_start && !token.empty()) {
    if (state.stripped < step.start && token.starts_with(step.content)) {
      token.remove_prefix(step.content.size());
      ++state.stripped;
    } else {
      state.is_past_start = true;
    }
  }
  std::string text = state.held;
  text.append(token);
  size_t keep = text.size();
  for (int64_t n = 0;
       n < step.stop && std::string_view(text).substr(0, keep).ends_with(step.content); ++n) {
    keep -= step.content.size();
  }
  state.held = text.substr(keep);
  text.resize(keep);
  if (!text.empty()) feed(i + 1, text, is_added, out);
}

void DecoderState::run(const MetaspaceDecode& step, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  feed(i + 1, decode_metaspace(step, token, states_[i].seen == 0), is_added, out);
}

void DecoderState::run(const WordPieceDecode& step, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  feed(i + 1, decode_word_piece(step, token, states_[i].seen == 0), is_added, out);
}

void DecoderState::run(const BpeDecode& step, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  StepState& state = states_[i];
  const std::string text = replace_all(state.held, step.suffix, " ");
  if (state.seen > 0) feed(i + 1, text, is_added, out);
  state.held = token;
}

void DecoderState::run(const CtcDecode& step, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  StepState& state = states_[i];
  if (state.seen > 0 && state.held == token) return;
  state.held = token;
  std::string text = replace_all(token, step.pad, "");
  if (step.cleanup) text = replace_all(clean_up(std::move(text)), step.word_delimiter, " ");
  if (!text.empty()) feed(i + 1, text, is_added, out);
}

void DecoderState::run(const JoinDecode&, size_t i, std::string_view token, bool is_added,
                       std::string& out) {
  std::string text = states_[i].seen > 0 ? " " : "";
  text.append(token);
  feed(i + 1, text, is_added, out);
}

}  // namespace hearth::text
