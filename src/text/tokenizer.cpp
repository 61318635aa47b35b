#include "text/tokenizer.h"

#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "text/detokenizer.h"
#include "text/tokenizer/data.h"
#include "text/unicode.h"

namespace hearth {
namespace {

constexpr int64_t kMaxConfigBytes = int64_t{64} << 20;
constexpr size_t kMaxTextBytes = size_t{1} << 30;

using text::ControlScope;
using text::TextRange;
using text::TokenizerData;

Json parse_config(std::string_view json, const std::string& name) {
  if (json.empty()) return Json::object();
  try {
    Json config = Json::parse(json);
    require_data(config.is_object(), "must be an object");
    return config;
  } catch (const Error&) {
    rethrow_with(name);
  }
}

std::shared_ptr<const TokenizerData> make_data(std::string_view tokenizer_json,
                                               const std::string& name,
                                               std::string_view config_json,
                                               const std::string& config_name) {
  const Json config = parse_config(config_json, config_name);
  text::TokenizerFile file = text::read_tokenizer_file(tokenizer_json, name);
  try {
    return std::make_shared<const TokenizerData>(std::move(file), config);
  } catch (const Error& e) {
    if (e.message().find(name) != std::string::npos) throw;
    rethrow_with(name);
  }
}

void check_size(size_t bytes) {
  require(bytes <= kMaxTextBytes, "the text to tokenize is ", static_cast<int64_t>(bytes),
          " bytes; at most ", static_cast<int64_t>(kMaxTextBytes), " are allowed");
}

}  // namespace

Tokenizer Tokenizer::load(const std::filesystem::path& path) {
  const bool is_folder = std::filesystem::is_directory(path);
  const std::filesystem::path file = is_folder ? path / "tokenizer.json" : path;
  const std::filesystem::path config = file.parent_path() / "tokenizer_config.json";
  if (is_folder && !std::filesystem::exists(file)) {
    fail(Code::kNotFound, path.string(),
         " has no tokenizer.json (a tokenizer.model alone can't be read; convert it)");
  }
  const auto mapped = MappedFile::open(file);
  const std::span<const std::byte> bytes = mapped->bytes();
  const std::string config_json =
      std::filesystem::exists(config) ? read_text_file(config, kMaxConfigBytes) : "";
  return Tokenizer(make_data({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                             file.string(), config_json, config.string()));
}

Tokenizer Tokenizer::parse(std::string_view tokenizer_json, std::string_view config_json,
                           std::string_view name) {
  return Tokenizer(make_data(tokenizer_json, std::string(name), config_json,
                             std::string(name) + ": tokenizer_config.json"));
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  check_size(text.size());
  std::string repaired;
  if (!text::is_valid_utf8(text)) text = repaired = text::to_valid_utf8(text);
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 4 + 16);
  const text::Wrapping& around = data_->wrapping();
  if (options.add_special) ids.insert(ids.end(), around.before.begin(), around.before.end());
  const auto scope =
      options.parse_special ? ControlScope::Kind::kEverywhere : ControlScope::Kind::kNowhere;
  data_->encode(text, {scope, {}}, ids);
  if (options.add_special) ids.insert(ids.end(), around.after.begin(), around.after.end());
  return ids;
}

std::vector<int32_t> Tokenizer::encode_segments(std::span<const PromptSegment> segments,
                                                const SegmentOptions& options) const {
  std::string joined;
  std::vector<TextRange> trusted;
  for (const PromptSegment& segment : segments) {
    check_size(joined.size() + segment.text.size());
    const auto begin = static_cast<int64_t>(joined.size());
    joined += text::is_valid_utf8(segment.text) ? segment.text : text::to_valid_utf8(segment.text);
    const auto end = static_cast<int64_t>(joined.size());
    if (!segment.trusted || begin == end) continue;
    if (!trusted.empty() && trusted.back().end == begin) {
      trusted.back().end = end;
    } else {
      trusted.push_back({begin, end});
    }
  }
  std::vector<int32_t> ids;
  const bool is_everywhere =
      options.parse_untrusted || (trusted.size() == 1 && trusted[0].begin == 0 &&
                                  trusted[0].end == static_cast<int64_t>(joined.size()));
  if (is_everywhere) {
    data_->encode(joined, {ControlScope::Kind::kEverywhere, {}}, ids);
  } else {
    data_->encode(joined, {ControlScope::Kind::kRanges, trusted}, ids);
  }
  if (options.ensure_bos && begins_with_bos() && (ids.empty() || ids.front() != *bos_id())) {
    ids.insert(ids.begin(), *bos_id());
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, SpecialTokens specials) const {
  text::DecoderState state(data_->decoder());
  std::string out;
  for (const int32_t id : ids) {
    const auto token = data_->id_to_token(id);
    if (!token || (specials == SpecialTokens::kSkip && data_->is_special(id))) continue;
    state.push(*token, data_->is_added(id), out);
  }
  state.finish(out);
  return out;
}

int32_t Tokenizer::vocab_size() const { return data_->vocab_size(); }
std::optional<int32_t> Tokenizer::token_to_id(std::string_view token) const {
  return data_->token_to_id(token);
}
std::optional<std::string_view> Tokenizer::id_to_token(int32_t id) const {
  return data_->id_to_token(id);
}
bool Tokenizer::is_special(int32_t id) const { return data_->is_special(id); }
std::optional<int32_t> Tokenizer::bos_id() const { return data_->bos_id(); }
std::optional<int32_t> Tokenizer::eos_id() const { return data_->eos_id(); }

std::string Tokenizer::token_bytes(int32_t id) const {
  const auto token = data_->id_to_token(id);
  return token ? data_->decoder().token_bytes(*token, data_->is_added(id)) : std::string();
}

bool Tokenizer::begins_with_bos() const {
  const std::vector<int32_t>& before = data_->wrapping().before;
  return !before.empty() && data_->bos_id() && before.front() == *data_->bos_id();
}

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, SpecialTokens specials)
    : tokenizer_(tokenizer),
      specials_(specials),
      state_(std::make_unique<text::DecoderState>(tokenizer_.data().decoder())) {}
StreamDecoder::~StreamDecoder() = default;
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;

std::string StreamDecoder::push(int32_t id) {
  std::string out;
  const TokenizerData& data = tokenizer_.data();
  const auto token = data.id_to_token(id);
  if (!token || (specials_ == SpecialTokens::kSkip && data.is_special(id))) return out;
  state_->push(*token, data.is_added(id), out);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out;
  state_->finish(out);
  return out;
}

}  // namespace hearth
