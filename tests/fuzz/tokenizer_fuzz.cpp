// Law: any tokenizer.json is refused with an Error or gives a tokenizer that encodes and decodes any text in bounded
// time and memory; streamed decoding equals whole decoding; every id is below vocab_size(); cutting a prompt into
// segments doesn't crash.
//
// Input: tokenizer.json, then optionally byte 1E and tokenizer_config.json, then optionally byte 1E and a text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace hearth {
namespace {

std::string_view take(std::string_view& rest) {
  const size_t end = rest.find('\x1E');
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

void demand(bool holds) {
  if (!holds) __builtin_trap();
}

void check_ids(const Tokenizer& t, const std::vector<int32_t>& ids) {
  StreamDecoder decoder(t, SpecialTokens::kKeep);
  std::string joined;
  for (const int32_t id : ids) {
    demand(id >= 0 && id < t.vocab_size());
    const std::string piece = decoder.push(id);
    demand(text::is_valid_utf8(piece));
    joined += piece;
    t.token_bytes(id);
  }
  joined += decoder.finish();
  demand(joined == t.decode(ids));
}

template <class Body>
void attempt(Body body) {
  try {
    body();
  } catch (const Error& e) {
    demand(e.code() != Code::kInternal);
  }
}

void check(std::string_view input) {
  const std::string_view json = take(input);
  const std::string_view config = take(input);
  const std::string_view text = input.empty() ? json.substr(0, 300) : input;
  const Tokenizer t = Tokenizer::parse(json, config, "fuzz");
  attempt([&] { check_ids(t, t.encode(text)); });
  attempt([&] { check_ids(t, t.encode(text, {.add_special = false, .parse_special = true})); });
  attempt([&] {
    const std::vector<PromptSegment> segments = {
        {std::string(text.substr(0, text.size() / 3)), true},
        {std::string(text.substr(text.size() / 3)), false},
        {std::string(text.substr(0, text.size() / 5)), true}};
    check_ids(t, t.encode_segments(segments));
  });
  attempt([&] {
    check_ids(t, t.encode("Hello  w\u00e9rld's 123\n\n\t\u4e2d\u6587 \U0001F600 a\u0301\uFB01<s>"));
  });
  std::vector<int32_t> ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c) % (t.vocab_size() + 1));
  attempt([&] { t.decode(ids, SpecialTokens::kSkip); });
}

}  // namespace
}  // namespace hearth

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hearth::attempt([&] { hearth::check({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
