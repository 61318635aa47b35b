#include "checkpoint/make_checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "checkpoint/random_rows.h"
#include "checkpoint/safetensors.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBatchBytes = 8 << 20;  // of f32 values made before they are written

// One expected tensor and the one or three stored ones that hold it.
struct Plan {
  const ExpectedTensor* expected;
  std::optional<codec::AffineFormat> affine;
  int64_t rows, cols;
  float mean, deviation;
  std::vector<TensorSpec> stored;  // weight, or weight, scales, biases

  int64_t bytes() const {
    int64_t sum = 0;
    for (const TensorSpec& t : stored) sum += t.size_bytes();
    return sum;
  }
};

Plan make_plan(const ExpectedTensor& e, const MakeCheckpointOptions& o) {
  Plan p{.expected = &e,
         .affine = {},
         .rows = 1,
         .cols = 1,
         .mean = 0.0F,
         .deviation = 0.0F,
         .stored = {}};
  if (!e.shape.empty()) p.cols = e.shape.back();
  if (e.shape.size() > 1) p.rows = *checked_product(std::span(e.shape).first(e.shape.size() - 1));
  const bool is_matrix = e.is_weight || e.shape.size() > 1;
  const bool is_bias = e.name.ends_with("bias");
  p.mean = is_matrix || is_bias ? 0.0F : 1.0F;
  p.deviation = is_matrix ? 1.0F / std::sqrt(static_cast<float>(p.cols)) : is_bias ? 0.02F : 0.1F;
  const bool is_affine = o.affine && e.is_weight && p.cols % o.affine->group == 0;
  if (!is_affine) {
    p.stored.push_back({e.name, o.dtype, e.shape});
    return p;
  }
  p.affine = o.affine;
  const std::string path = e.name.substr(0, e.name.size() - std::string_view(".weight").size());
  p.stored.push_back({e.name, DType::kU32, {p.rows, codec::packed_words(p.cols, o.affine->bits)}});
  p.stored.push_back({path + ".scales", o.dtype, {p.rows, p.cols / o.affine->group}});
  p.stored.push_back({path + ".biases", o.dtype, {p.rows, p.cols / o.affine->group}});
  return p;
}

// Consecutive plans, in as many parts of about equal bytes as were asked for (fewer when tensors
// are large).
std::vector<std::vector<Plan>> split_shards(std::vector<Plan> plans, int64_t shards) {
  double total = 0.0, before = 0.0;
  for (const Plan& p : plans) total += static_cast<double>(p.bytes());
  std::vector<std::vector<Plan>> parts;
  int64_t last = -1;
  for (Plan& p : plans) {
    const double middle = before + static_cast<double>(p.bytes()) / 2.0;
    const auto part =
        std::min(static_cast<int64_t>(middle / total * static_cast<double>(shards)), shards - 1);
    if (part != last) parts.emplace_back();
    last = part;
    before += static_cast<double>(p.bytes());
    parts.back().push_back(std::move(p));
  }
  return parts;
}

// Rows [begin, begin + count) of one plan in their stored form.
class Batch {
 public:
  Batch(const Plan& plan, const MakeCheckpointOptions& options, int64_t max_rows)
      : plan_(plan), options_(options), values_(static_cast<size_t>(max_rows * plan.cols)) {
    for (const TensorSpec& t : plan.stored) {
      row_bytes_.push_back(t.size_bytes() / std::max<int64_t>(plan.rows, 1));
      stored_.emplace_back(static_cast<size_t>(row_bytes_.back() * max_rows));
    }
    if (plan.affine) {
      const auto groups = static_cast<size_t>(plan.cols / plan.affine->group * max_rows);
      scales_.resize(groups);
      biases_.resize(groups);
    }
  }

  // Row `begin + i`, into place i. Different rows may be made by different threads.
  void make_row(int64_t begin, int64_t i) noexcept {
    const auto cols = static_cast<size_t>(plan_.cols);
    const std::span<float> values = std::span(values_).subspan(static_cast<size_t>(i) * cols, cols);
    random_row(options_.seed, plan_.expected->name, begin + i, plan_.mean, plan_.deviation, values);
    if (!plan_.affine) {
      store_floats(values, options_.dtype, place(0, i));
      return;
    }
    const auto groups = static_cast<size_t>(plan_.cols / plan_.affine->group);
    const std::span<float> scales =
        std::span(scales_).subspan(static_cast<size_t>(i) * groups, groups);
    const std::span<float> biases =
        std::span(biases_).subspan(static_cast<size_t>(i) * groups, groups);
    auto* const packed = reinterpret_cast<uint32_t*>(place(0, i).data());
    codec::quantize_row(values.data(), plan_.cols, *plan_.affine, packed, scales.data(),
                        biases.data());
    store_floats(scales, options_.dtype, place(1, i));
    store_floats(biases, options_.dtype, place(2, i));
  }

  void write(SafetensorsWriter& writer, int64_t begin, int64_t rows) const {
    for (size_t t = 0; t < stored_.size(); ++t) {
      writer.write(plan_.stored[t].name, begin * row_bytes_[t],
                   std::span(stored_[t]).first(static_cast<size_t>(rows * row_bytes_[t])));
    }
  }

 private:
  std::span<std::byte> place(size_t tensor, int64_t i) {
    const auto size = static_cast<size_t>(row_bytes_[tensor]);
    return std::span(stored_[tensor]).subspan(static_cast<size_t>(i) * size, size);
  }

  const Plan& plan_;
  const MakeCheckpointOptions& options_;
  std::vector<float> values_, scales_, biases_;
  std::vector<int64_t> row_bytes_;
  std::vector<std::vector<std::byte>>
      stored_;  // by stored tensor; vector storage is aligned for words
};

struct Written {
  Progress* progress;
  int64_t done = 0, total = 0;
};

void write_shard(const fs::path& path, const std::vector<Plan>& plans,
                 const MakeCheckpointOptions& options, ThreadPool& pool, Written& written) {
  std::vector<TensorSpec> specs;
  for (const Plan& p : plans) specs.insert(specs.end(), p.stored.begin(), p.stored.end());
  SafetensorsWriter writer(path, std::move(specs));
  for (const Plan& p : plans) {
    if (p.rows == 0 || p.cols == 0) continue;
    const int64_t max_rows = std::clamp<int64_t>(kBatchBytes / 4 / p.cols, 1, p.rows);
    Batch batch(p, options, max_rows);
    for (int64_t begin = 0; begin < p.rows; begin += max_rows) {
      const int64_t rows = std::min(max_rows, p.rows - begin);
      pool.parallel_for(rows, [&](int64_t i, int) { batch.make_row(begin, i); });
      batch.write(writer, begin, rows);
      written.done += p.bytes() / p.rows * rows;
      if (written.progress != nullptr)
        written.progress->report("writing weights", written.done, written.total, "bytes");
    }
  }
  writer.commit();
}

Json config_of(const Json& config, const MakeCheckpointOptions& options) {
  Json out = config;
  out.as_object().erase("quantization");
  out.as_object().erase("quantization_config");
  if (options.affine) {
    const Json section = Json::object({{"group_size", Json(options.affine->group)},
                                       {"bits", Json(options.affine->bits)},
                                       {"mode", Json("affine")}});
    out.set("quantization", section);
    out.set("quantization_config", section);
  }
  return out;
}

void write_index(const fs::path& path, std::vector<std::pair<std::string, std::string>> file_of,
                 int64_t total_bytes, int64_t total_parameters) {
  std::ranges::sort(file_of);
  Json map = Json::object();
  for (auto& [tensor, file] : file_of) map.set(tensor, Json(std::move(file)));
  const Json index =
      Json::object({{"metadata", Json::object({{"total_size", Json(total_bytes)},
                                               {"total_parameters", Json(total_parameters)}})},
                    {"weight_map", std::move(map)}});
  write_file_atomic(path, index.dump({.indent = 2}));
}

// A folder beside the final one that takes its place when everything is written, and vanishes
// otherwise.
class Staging {
 public:
  explicit Staging(fs::path target) : target_(std::move(target)) {
    if (!target_.has_filename()) target_ = target_.parent_path();  // "name/"
    std::error_code error;
    require(!fs::exists(target_, error) ||
                (fs::is_directory(target_, error) && fs::is_empty(target_, error)),
            target_.string(), " exists already; choose another name or remove it");
    if (target_.has_parent_path()) {
      fs::create_directories(target_.parent_path(), error);
      if (error)
        fail(Code::kIo, "can't create ", target_.parent_path().string(), ": ", error.message());
    }
    std::string name = target_.string() + ".partial-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      fail(Code::kIo, "can't create a folder beside ", target_.string(), ": ",
           std::strerror(errno));
    path_ = name;
  }
  ~Staging() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const fs::path& path() const { return path_; }

  void publish() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::chmod(path_.c_str(), 0777U & ~mask);  // mkdtemp makes it private
    std::error_code error;
    fs::rename(path_, target_, error);  // replaces an empty folder
    if (error) fail(Code::kIo, "can't rename to ", target_.string(), ": ", error.message());
    path_.clear();
  }

 private:
  fs::path target_, path_;
};

void check_options(const MakeCheckpointOptions& o, const Json& config,
                   std::span<const ExpectedTensor> tensors) {
  require(o.dtype == DType::kF32 || o.dtype == DType::kBF16 || o.dtype == DType::kF16,
          "weights can be made as f32, bf16 or f16, not ", o.dtype);
  require(!o.affine || codec::is_valid(*o.affine),
          "affine quantization has 2, 3, 4, 5, 6 or 8 bits and groups of 32, 64 or 128");
  require(o.shards >= 1 && o.shards <= 99999, "shards must be 1 to 99999, not ", o.shards);
  require(o.threads >= 1, "threads must be at least 1");
  require(config.is_object(), "the config must be an object");
  require(!tensors.empty(), "the config describes no tensors");
}

}  // namespace

void make_checkpoint(const fs::path& folder, const Json& config,
                     std::span<const ExpectedTensor> tensors,
                     const MakeCheckpointOptions& options) {
  check_options(options, config, tensors);
  std::vector<Plan> plans;
  std::set<std::string_view> seen;  // a tied weight may be asked for twice
  Written written{.progress = options.progress};
  int64_t parameters = 0;
  for (const ExpectedTensor& e : tensors) {
    if (!seen.insert(e.name).second) continue;
    const auto elements = checked_product(e.shape);
    require(elements && checked_mul(*elements, 8), "tensor ", e.name,
            " is too large: ", shape_text(e.shape));
    plans.push_back(make_plan(e, options));
    const auto total = checked_add(written.total, plans.back().bytes());
    require(total.has_value(), "the model is too large");
    written.total = *total;
    parameters += *elements;
  }
  Staging staging(folder);
  std::error_code error;
  const fs::space_info space = fs::space(staging.path(), error);
  if (!error && static_cast<uint64_t>(written.total) > space.available) {
    fail(Code::kResourceExhausted, "the checkpoint needs ", written.total,
         " bytes, but the disk of ", folder.string(), " has ", space.available, " left");
  }
  ThreadPool pool(options.threads);
  const std::vector<std::vector<Plan>> shards = split_shards(std::move(plans), options.shards);
  std::vector<std::pair<std::string, std::string>> file_of;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string file =
        shards.size() == 1 ? "model.safetensors"
                           : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write_shard(staging.path() / file, shards[i], options, pool, written);
    for (const Plan& p : shards[i]) {
      for (const TensorSpec& t : p.stored) file_of.emplace_back(t.name, file);
    }
  }
  if (shards.size() > 1)
    write_index(staging.path() / "model.safetensors.index.json", std::move(file_of), written.total,
                parameters);
  write_file_atomic(staging.path() / "config.json",
                    config_of(config, options).dump({.indent = 2}) + "\n");
  staging.publish();
}

}  // namespace hearth
