#include "cli/golden_cases.h"

#include <algorithm>
#include <system_error>

#include <fmt/core.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"

namespace hearth::cli {
namespace {

constexpr int64_t kMaxBytes = int64_t{256} << 20;

std::vector<int32_t> int_list(const Json& j) {
  std::vector<int32_t> out;
  for (const Json& item : j.as_array()) {
    const int64_t value = item.as_int();
    require_data(value >= 0 && value <= INT32_MAX, "token ", value, " is out of range");
    out.push_back(static_cast<int32_t>(value));
  }
  return out;
}

std::vector<float> float_list(const Json& j) {
  std::vector<float> out;
  for (const Json& item : j.as_array()) out.push_back(static_cast<float>(item.as_double()));
  return out;
}

// Rows of a recorded tensor [n, V], as the logits after positions first, first + 1, ...
void add_rows(GoldenCase& c, const SafetensorsFile& file, const std::string& tensor,
              int64_t first) {
  const Tensor t = file.tensor(tensor);
  require_data(t.ndim() == 2 && t.dtype() == DType::kF32, tensor, ": expected f32 [n, V]");
  const auto all = t.span<float>();
  const auto width = static_cast<size_t>(t.dim(1));
  for (int64_t i = 0; i < t.dim(0); ++i) {
    const auto row = all.subspan(static_cast<size_t>(i) * width, width);
    c.rows.push_back({first + i, {row.begin(), row.end()}});
  }
}

std::vector<GoldenCase> read_tensors(const std::filesystem::path& folder, DType activation) {
  const Json golden =
      Json::parse(read_text_file(folder / "golden.json", kMaxBytes), {.allow_nonfinite = true});
  const SafetensorsFile file = SafetensorsFile::open(folder / "golden.safetensors");
  std::vector<GoldenCase> cases;
  for (const auto& [name, prompt] : golden.at("prompts").as_object()) {
    const bool has_f32 = activation != DType::kF32 && prompt.contains("f32.greedy");
    const std::string prefix = name + (has_f32 ? ".f32." : ".");
    GoldenCase c{.name = name,
                 .tokens = int_list(prompt.at("ids")),
                 .prompt_tokens = 0,
                 .greedy = {},
                 .rows = {}};
    c.prompt_tokens = static_cast<int64_t>(c.tokens.size());
    c.greedy = int_list(prompt.at(has_f32 ? "f32.greedy" : "greedy"));
    add_rows(c, file, prefix + "logits", 0);
    const int64_t decoded = static_cast<int64_t>(c.greedy.size()) - 1;
    c.tokens.insert(c.tokens.end(), c.greedy.begin(), c.greedy.begin() + decoded);
    add_rows(c, file, prefix + "decode_logits", c.prompt_tokens);
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<GoldenCase> read_starter(const std::filesystem::path& folder) {
  const Json golden = Json::parse(read_text_file(folder / "goldens.json", kMaxBytes));
  std::vector<GoldenCase> cases;
  for (const Json& j : golden.at("cases").as_array()) {
    GoldenCase c{.name = fmt::format("case {}", cases.size() + 1),
                 .tokens = int_list(j.at("ids")),
                 .prompt_tokens = 0,
                 .greedy = int_list(j.at("greedy_ids")),
                 .rows = {}};
    c.prompt_tokens = static_cast<int64_t>(c.tokens.size());
    if (const Json* positions = j.find("positions")) {
      const std::vector<int32_t> at = int_list(*positions);
      const auto& rows = j.at("logits").as_array();
      require_data(at.size() == rows.size(), "\"positions\" and \"logits\" differ in length");
      for (size_t i = 0; i < at.size(); ++i) c.rows.push_back({at[i], float_list(rows[i])});
    } else {
      c.rows.push_back({c.prompt_tokens - 1, float_list(j.at("last_logits"))});
    }
    c.tokens.insert(c.tokens.end(), c.greedy.begin(), c.greedy.end());
    if (!c.greedy.empty()) c.tokens.pop_back();
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

std::vector<GoldenCase> read_golden_cases(const std::filesystem::path& folder, DType activation) {
  std::error_code ignored;
  try {
    if (std::filesystem::exists(folder / "golden.json", ignored))
      return read_tensors(folder, activation);
    if (std::filesystem::exists(folder / "goldens.json", ignored)) return read_starter(folder);
  } catch (const Error&) {
    rethrow_with(folder.string() + ": golden data");
  }
  fail(Code::kNotFound, folder.string(),
       " has neither golden.json nor goldens.json; give folders with recorded outputs, ",
       "such as those in tests/golden/models");
}

}  // namespace hearth::cli
