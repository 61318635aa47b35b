// Opening: folders, configs, shards and their index.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/checkpoint_state.h"
#include "checkpoint/end_tokens.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// The largest real ones have a tenth of this.
constexpr int64_t kMaxConfigBytes = 8 << 20;
constexpr int64_t kMaxIndexBytes = 64 << 20;
constexpr std::string_view kIndexName = "model.safetensors.index.json";

// FNV-1a, 64 bits: not against adversaries, only to notice change.
class Fingerprint {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) hash_ = (hash_ ^ static_cast<uint64_t>(b)) * 0x100000001B3ULL;
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(int64_t number) { add(std::as_bytes(std::span(&number, 1))); }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325ULL;
};

Json parse_object(std::string_view text, const std::string& where) {
  try {
    Json j = Json::parse(text, {.max_depth = 100, .allow_nonfinite = true});
    require_data(j.is_object(), "expected an object, found ", j.kind());
    return j;
  } catch (const Error&) {
    rethrow_with(where);
  }
}

bool is_weight_file(const fs::path& path) {
  const std::string file = path.filename().string();
  return file.starts_with("model") && file.ends_with(".safetensors");
}

std::vector<fs::path> list_weight_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (is_weight_file(it->path()) && it->is_regular_file(error)) files.push_back(it->path());
    error.clear();  // a dangling link is no weight file
  }
  if (error) fail(Code::kIo, "can't list ", folder.string(), ": ", error.message());
  std::ranges::sort(files);
  return files;
}

// Every entry of the index must hold; files may have tensors that the index doesn't name.
void check_index(const fs::path& index, const std::vector<SafetensorsFile>& files) {
  const std::string where = index.string();
  const Json j = parse_object(read_text_file(index, kMaxIndexBytes), where);
  const Json* map = j.find_value("weight_map");
  require_data(map != nullptr && map->is_object(), where,
               ": \"weight_map\" must be an object of tensor names and files");
  for (const auto& [tensor, file] : map->as_object()) {
    require_data(file.is_string(), where, ": weight_map of ", printable(tensor),
                 " must name a file, not ", file.kind());
    const auto holder = std::ranges::find(files, file.as_string(), [](const SafetensorsFile& f) {
      return fs::path(f.file_name()).filename().string();
    });
    require_data(holder != files.end(), where, ": tensor ", printable(tensor), " should be in ",
                 printable(file.as_string()),
                 ", which is not among the model*.safetensors of the folder; download it");
    require_data(holder->find(tensor) != nullptr, where, ": tensor ", printable(tensor),
                 " should be in ", printable(file.as_string()),
                 ", which doesn't have it; download both again");
  }
}

}  // namespace

void Checkpoint::State::read_configs(std::string_view config_json,
                                     std::string_view generation_config_json) {
  const std::string where = name + ": config.json";
  config = parse_object(config_json, where);
  if (config.find_value("model_file") != nullptr) {
    fail(Code::kUnsupported, where,
         ": \"model_file\" asks to run code that comes with the model, which Hearth never does; "
         "use a checkpoint of a "
         "supported architecture");
  }
  const Json* text = config.find_value("text_config");
  require_data(text == nullptr || text->is_object(), where, ": text_config must be an object");
  if (!generation_config_json.empty()) {
    try {
      generation_config = parse_object(generation_config_json, name + ": generation_config.json");
    } catch (const Error& e) {  // as the reference does
      log_warning(e.message() + "; the file is ignored");
    }
  }
  try {
    quantization = QuantizationConfig::parse(config);
    end_token_ids =
        hearth::end_token_ids(config, generation_config ? &*generation_config : nullptr);
  } catch (const Error&) {
    rethrow_with(name);
  }
}

void Checkpoint::State::merge_tensors() {
  size_t count = 0;
  for (const SafetensorsFile& f : files) count += f.tensors().size();
  entries.reserve(count);
  for (const SafetensorsFile& f : files) {
    for (const TensorInfo& t : f.tensors()) entries.push_back({.info = &t, .file = &f});
  }
  std::ranges::stable_sort(entries, {},
                           [](const Entry& e) -> const std::string& { return e.info->name; });
  for (size_t i = 1; i < entries.size(); ++i) {
    require_data(entries[i - 1].info->name != entries[i].info->name, name, ": tensor ",
                 printable(entries[i].info->name), " is in two files, ",
                 entries[i - 1].file->file_name(), " and ", entries[i].file->file_name(),
                 "; remove the files that belong to another checkpoint");
  }
}

Checkpoint Checkpoint::open(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    fail(Code::kNotFound, "there is no model folder ", folder.string(),
         "; a model is a folder with config.json and model*.safetensors");
  }
  if (!fs::exists(folder / "config.json", ignored)) {
    fail(Code::kNotFound, folder.string(),
         " has no config.json; a model is a folder with config.json and model*.safetensors");
  }
  auto state = std::make_unique<State>();
  state->name = folder.string();
  const std::string config = read_text_file(folder / "config.json", kMaxConfigBytes);
  std::string generation_config;
  if (fs::exists(folder / "generation_config.json", ignored)) {
    try {
      generation_config = read_text_file(folder / "generation_config.json", kMaxConfigBytes);
      if (generation_config.empty()) generation_config = " ";  // there, and malformed
    } catch (const Error& e) {
      log_warning(e.message() + "; the file is ignored");
    }
  }
  state->read_configs(config, generation_config);

  Fingerprint print;
  print.add(config);
  print.add(generation_config);
  const std::vector<fs::path> paths = list_weight_files(folder);
  if (paths.empty()) {
    fail(Code::kNotFound, folder.string(),
         " has no model*.safetensors; other formats (.bin, .gguf) are not read, use a safetensors "
         "checkpoint");
  }
  for (const fs::path& path : paths) {
    state->files.push_back(SafetensorsFile::open(path));
    print.add(state->files.back().header());
    print.add(state->files.back().file_bytes());
    print.add(static_cast<int64_t>(fs::last_write_time(path, ignored).time_since_epoch().count()));
  }
  state->fingerprint = print.value();
  if (const fs::path index = folder / kIndexName; fs::exists(index, ignored))
    check_index(index, state->files);
  state->merge_tensors();
  return Checkpoint(std::move(state));
}

Checkpoint Checkpoint::from_parts(CheckpointParts parts) {
  auto state = std::make_unique<State>();
  state->name = std::move(parts.name);
  state->read_configs(parts.config_json, parts.generation_config_json);
  Fingerprint print;
  print.add(parts.config_json);
  print.add(parts.generation_config_json);
  state->files = std::move(parts.files);
  for (const SafetensorsFile& f : state->files) {
    print.add(f.header());
    print.add(f.file_bytes());
  }
  state->fingerprint = print.value();
  state->merge_tensors();
  return Checkpoint(std::move(state));
}

Checkpoint Checkpoint::blueprint(Json config) {
  auto state = std::make_unique<State>();
  state->name = "blueprint";
  state->is_blueprint = true;
  state->read_configs(config.dump(), "");
  return Checkpoint(std::move(state));
}

}  // namespace hearth
