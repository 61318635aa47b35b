// What a Checkpoint holds. Internal to checkpoint.cpp (loading) and checkpoint_open.cpp (opening).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/zero_pages.h"

namespace hearth {

struct Checkpoint::State {
  struct Entry {
    const TensorInfo* info;
    const SafetensorsFile* file;
    bool is_taken = false;
  };

  std::string name;
  Json config;
  std::optional<Json> generation_config;
  QuantizationConfig quantization;
  std::vector<int32_t> end_token_ids;
  std::vector<SafetensorsFile> files;
  std::vector<Entry> entries;  // sorted by tensor name
  uint64_t fingerprint = 0;
  bool is_blueprint = false;

  std::vector<ExpectedTensor> expected;
  std::vector<std::string> missing;
  std::vector<std::string> misshapen;  // "model.norm.weight is [64], expected [128]"
  ZeroPages zeros;                     // the largest so far, shared by all placeholders

  Entry* find(std::string_view tensor_name);

  // Parses and checks the two configs. Fills everything that derives from them.
  void read_configs(std::string_view config_json, std::string_view generation_config_json);
  // Merges the files' tensors; throws kCorruptData when two files hold the same name.
  void merge_tensors();

  void expect(std::string tensor_name, std::span<const int64_t> shape, bool is_weight);
  Tensor placeholder(std::string_view tensor_name, std::span<const int64_t> shape, DType dtype);
  // The tensor, or a placeholder of `otherwise` after recording what is wrong.
  Tensor take(std::string_view tensor_name, std::span<const int64_t> shape, DType otherwise);
};

}  // namespace hearth
