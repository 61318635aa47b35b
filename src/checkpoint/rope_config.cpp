#include "checkpoint/rope_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/error.h"
#include "checkpoint/safetensors_header.h"

namespace hearth {
namespace {

constexpr int64_t kMaxHeadDim = 1 << 16;  // bounds the tables of a hostile config

constexpr std::array<std::pair<std::string_view, RopeType>, 11> kNames = {{
    {"default", RopeType::kDefault},
    {"linear", RopeType::kLinear},
    {"llama3", RopeType::kLlama3},
    {"yarn", RopeType::kYarn},
    {"longrope", RopeType::kLongRope},
    {"dynamic", RopeType::kDynamic},
    {"proportional", RopeType::kProportional},
    {"mrope", RopeType::kMrope},
    {"deepseek_yarn", RopeType::kYarn},
    {"telechat3-yarn", RopeType::kYarn},
    {"su", RopeType::kLongRope},
}};

double positive(const Json& scaling, std::string_view key, double otherwise) {
  const double value = scaling.get_double(key, otherwise);
  require_data(std::isfinite(value) && value > 0.0, "\"", key, "\" must be a positive number, not ",
               value);
  return value;
}

double required_positive(const Json& scaling, std::string_view key) {
  require_data(scaling.find_value(key) != nullptr, "\"", key, "\" is missing");
  return positive(scaling, key, 0.0);
}

double finite(const Json& scaling, std::string_view key, double otherwise) {
  const double value = scaling.get_double(key, otherwise);
  require_data(std::isfinite(value), "\"", key, "\" must be finite");
  return value;
}

RopeType parse_type(const Json& scaling) {
  const Json* type = scaling.find_value("type");
  if (type == nullptr) type = scaling.find_value("rope_type");
  if (type == nullptr) return RopeType::kDefault;
  require_data(type->is_string(), "the type must be text, not ", type->kind());
  const auto* known =
      std::ranges::find(kNames, type->as_string(), &std::pair<std::string_view, RopeType>::first);
  if (known == kNames.end()) {
    fail(Code::kUnsupported, "the RoPE type \"", printable(type->as_string()),
         "\" is not supported; default, linear, llama3, yarn, longrope, dynamic, proportional and "
         "mrope are");
  }
  return known->second;
}

void parse_long_factor(const Json& scaling, RopeConfig& c) {
  const Json* list = scaling.find_value("long_factor");
  require_data(list != nullptr && list->is_array() && list->size() == c.dims / 2,
               "\"long_factor\" must list ", c.dims / 2,
               " numbers, one for each pair of rotated channels");
  for (const Json& item : list->as_array()) {
    const double value = item.as_double();
    require_data(std::isfinite(value) && value > 0.0,
                 "\"long_factor\" must hold positive numbers, not ", value);
    c.long_factor.push_back(value);
  }
}

void parse_mrope_section(const Json& scaling, RopeConfig& c) {
  const Json* list = scaling.find_value("mrope_section");
  const bool is_needed = c.type == RopeType::kMrope;
  if (list == nullptr && !is_needed) return;
  require_data(list != nullptr && list->is_array() && list->size() == 3,
               "\"mrope_section\" must list 3 numbers");
  for (const Json& item : list->as_array()) c.mrope_section.push_back(item.as_int());
}

void parse_variant(const Json& scaling, RopeConfig& c) {
  switch (c.type) {
    case RopeType::kDefault:
    case RopeType::kMrope:
      break;
    case RopeType::kLinear:
      c.factor = required_positive(scaling, "factor");
      break;
    case RopeType::kLlama3:
      c.factor = required_positive(scaling, "factor");
      c.low_freq_factor = positive(scaling, "low_freq_factor", 1.0);
      c.high_freq_factor = positive(scaling, "high_freq_factor", 4.0);
      require_data(c.high_freq_factor > c.low_freq_factor, "\"high_freq_factor\" (",
                   c.high_freq_factor, ") must be above \"low_freq_factor\" (", c.low_freq_factor,
                   ")");
      break;
    case RopeType::kYarn:
      c.factor = required_positive(scaling, "factor");
      c.beta_fast = positive(scaling, "beta_fast", 32.0);
      c.beta_slow = positive(scaling, "beta_slow", 1.0);
      c.mscale = finite(scaling, "mscale", 1.0);
      c.mscale_all_dim = finite(scaling, "mscale_all_dim", 0.0);
      break;
    case RopeType::kLongRope:
      parse_long_factor(scaling, c);
      break;
    case RopeType::kDynamic:
      c.factor = positive(scaling, "factor", 1.0);
      require_data(c.factor >= 1.0, "\"factor\" must be at least 1, not ", c.factor);
      require_data(c.dims > 2, "dynamic RoPE needs more than 2 rotated channels");
      break;
    case RopeType::kProportional:
      c.factor = positive(scaling, "factor", 1.0);
      c.rotated_fraction = positive(scaling, "partial_rotary_factor", 1.0);
      require_data(c.rotated_fraction <= 1.0, "\"partial_rotary_factor\" must be at most 1, not ",
                   c.rotated_fraction);
      break;
  }
}

// ---- divisors: inv_freq = 1 / divisor

double llama3_divisor(const RopeConfig& c, double f) {
  const auto length = static_cast<double>(c.original_max_position_embeddings);
  const double wavelength = 2.0 * std::numbers::pi * f;
  if (wavelength > length / c.low_freq_factor) return f * c.factor;
  if (wavelength <= length / c.high_freq_factor) return f;
  const double smooth =
      (length / wavelength - c.low_freq_factor) / (c.high_freq_factor - c.low_freq_factor);
  return f / ((1.0 - smooth) / c.factor + smooth);
}

// The channel (fractional) that turns `turns` times over the original context.
double yarn_correction(const RopeConfig& c, double turns) {
  const auto length = static_cast<double>(c.original_max_position_embeddings);
  return static_cast<double>(c.dims) * std::log(length / (turns * 2.0 * std::numbers::pi)) /
         (2.0 * std::log(c.theta));
}

double yarn_divisor(const RopeConfig& c, double f, int64_t i) {
  const double low = std::max(std::floor(yarn_correction(c, c.beta_fast)), 0.0);
  double high =
      std::min(std::ceil(yarn_correction(c, c.beta_slow)), static_cast<double>(c.dims - 1));
  if (low == high) high += 0.001;
  const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
  const double keep = 1.0 - ramp;
  return c.factor * f / (c.factor * keep + (1.0 - keep));  // of the paper, with one f cancelled
}

double yarn_input_scale(const RopeConfig& c) {
  const auto m = [&](double a) {
    return c.factor <= 1.0 ? 1.0 : 0.1 * a * std::log(c.factor) + 1.0;
  };
  return m(c.mscale) / m(c.mscale_all_dim);
}

double longrope_input_scale(const RopeConfig& c) {
  const auto original = static_cast<double>(c.original_max_position_embeddings);
  const double ratio = static_cast<double>(c.max_position_embeddings) / original;
  return ratio <= 1.0 ? 1.0 : std::sqrt(1.0 + std::log(ratio) / std::log(original));
}

// NTK-aware base: unchanged up to the context that the model was trained for.
double dynamic_theta(const RopeConfig& c, int64_t tokens) {
  const auto context = static_cast<double>(c.max_position_embeddings);
  const double length = std::max(static_cast<double>(tokens), context);
  const auto dims = static_cast<double>(c.dims);
  return c.theta * std::pow(c.factor * length / context - (c.factor - 1.0), dims / (dims - 2.0));
}

}  // namespace

std::string_view name(RopeType type) {
  return std::ranges::find(kNames, type, &std::pair<std::string_view, RopeType>::second)->first;
}

RopeConfig RopeConfig::parse_scaling(const Json* scaling, int64_t dims, double theta,
                                     int64_t max_position_embeddings) {
  require_data(dims >= 2 && dims % 2 == 0 && dims <= kMaxHeadDim,
               "the number of rotated channels must be even, 2 to ", kMaxHeadDim, ", not ", dims,
               "; check head_dim and partial_rotary_factor");
  require_data(std::isfinite(theta) && theta > 1.0, "rope_theta must be above 1, not ", theta);
  RopeConfig c;
  c.dims = dims;
  c.theta = theta;
  c.max_position_embeddings = max_position_embeddings;
  if (scaling == nullptr) return c;
  require_data(scaling->is_object(), "it must be an object, not ", scaling->kind());
  c.type = parse_type(*scaling);
  const int64_t default_original = c.type == RopeType::kLlama3 ? 8192
                                   : c.type == RopeType::kYarn ? 4096
                                                               : 0;
  c.original_max_position_embeddings = scaling->get_int(
      "original_max_position_embeddings", default_original, {.min = 1, .max = int64_t{1} << 40});
  parse_variant(*scaling, c);
  parse_mrope_section(*scaling, c);
  return c;
}

RopeConfig RopeConfig::parse(const Json& config, int64_t head_dim, double default_theta) {
  require_data(head_dim >= 2 && head_dim <= kMaxHeadDim, "config.json: head_dim must be 2 to ",
               kMaxHeadDim, ", not ", head_dim);
  const Json* parameters = config.find_value("rope_parameters");
  const Json* scaling = config.find_value("rope_scaling");
  if (scaling == nullptr) scaling = parameters;
  const Json none = Json::object();
  const Json& newer = parameters != nullptr && parameters->is_object() ? *parameters : none;
  const double theta =
      config.get_double("rope_theta", newer.get_double("rope_theta", default_theta));
  const double fraction =
      config.get_double("partial_rotary_factor", newer.get_double("partial_rotary_factor", 1.0));
  require_data(fraction > 0.0 && fraction <= 1.0,
               "config.json: partial_rotary_factor must be above 0 and at most 1, not ", fraction);
  const int64_t context =
      config.get_int("max_position_embeddings", 0, {.min = 0, .max = int64_t{1} << 40});
  RopeConfig c;
  try {
    // A proportional table covers the whole head and rotates only a part of it by itself.
    const bool is_proportional = scaling != nullptr && scaling->is_object() &&
                                 parse_type(*scaling) == RopeType::kProportional;
    const auto dims = static_cast<int64_t>(static_cast<double>(head_dim) * fraction);
    c = parse_scaling(scaling, is_proportional ? head_dim : dims, theta, context);
    if (c.type == RopeType::kLongRope) {
      if (c.original_max_position_embeddings == 0)
        c.original_max_position_embeddings =
            config.get_int("original_max_position_embeddings", 0, {.min = 0});
      require_data(c.original_max_position_embeddings > 1,
                   "\"original_max_position_embeddings\" is missing");
    }
    require_data(c.type != RopeType::kDynamic || context > 0,
                 "dynamic RoPE needs max_position_embeddings");
    const RopeTable table = c.make_table();
    require_data(std::isfinite(table.input_scale) && table.input_scale > 0.0F,
                 "mscale and mscale_all_dim give no usable scale");
  } catch (const Error&) {
    rethrow_with(scaling == nullptr      ? "config.json"
                 : scaling == parameters ? "config.json: rope_parameters"
                                         : "config.json: rope_scaling");
  }
  c.interleaved = config.get_bool("rope_traditional", false);
  return c;
}

RopeTable RopeConfig::make_table(int64_t tokens) const {
  const int64_t pairs = dims / 2;
  const double base = type == RopeType::kDynamic ? dynamic_theta(*this, tokens) : theta;
  const auto rotated_pairs = static_cast<int64_t>(static_cast<double>(dims) * rotated_fraction) / 2;
  std::vector<float> inv_freq(static_cast<size_t>(pairs));
  for (int64_t i = 0; i < pairs; ++i) {
    const double f = std::pow(base, 2.0 * static_cast<double>(i) / static_cast<double>(dims));
    double divisor = f;
    if (type == RopeType::kLlama3) divisor = llama3_divisor(*this, f);
    if (type == RopeType::kYarn) divisor = yarn_divisor(*this, f, i);
    if (type == RopeType::kLongRope) divisor = f * long_factor[static_cast<size_t>(i)];
    if (type == RopeType::kProportional) divisor = f * factor;
    const bool is_rotated = type != RopeType::kProportional || i < rotated_pairs;
    inv_freq[static_cast<size_t>(i)] = is_rotated ? static_cast<float>(1.0 / divisor) : 0.0F;
  }
  RopeTable table;
  table.dims = dims;
  table.inv_freq = Tensor::from(std::span<const float>(inv_freq), {pairs});
  table.interleaved = interleaved && type != RopeType::kLongRope;  // longrope has half-split only
  if (type == RopeType::kLinear) table.position_scale = static_cast<float>(1.0 / factor);
  if (type == RopeType::kYarn) table.input_scale = static_cast<float>(yarn_input_scale(*this));
  if (type == RopeType::kLongRope)
    table.input_scale = static_cast<float>(longrope_input_scale(*this));
  return table;
}

}  // namespace hearth
