// Law: any config.json is refused with an Error or understood, in bounded time and memory: the end
// tokens, RoPE table, windows and quantization, and the family's own reading of it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/function_ref.h"
#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/inspect.h"
#include "checkpoint/layer_types.h"
#include "checkpoint/rope_config.h"
#include "models/registry.h"

namespace hearth {
namespace {

void attempt(function_ref<void()> body) {
  try {
    body();
  } catch (const Error& e) {
    if (e.code() == Code::kInternal) __builtin_trap();
  }
}

void check(std::string text) {
  Checkpoint c = Checkpoint::from_parts({.name = "fuzz",
                                         .config_json = text,
                                         .generation_config_json = std::move(text),
                                         .files = {}});
  attempt([&] { to_json(inspect(c)).dump(); });
  attempt([&] { c.quantization_of("model.layers.0.self_attn.q_proj"); });
  attempt([&] { affine_format(c.quantization().global(), "lm_head"); });
  attempt([&] { RopeConfig::parse(c.text_config(), 64, 10000.0).make_table(1 << 20); });
  attempt([&] { parse_windows(c.text_config(), c.text_config().get_int("num_hidden_layers", 2)); });
  attempt([&] { make_model(c); });  // no tensor is there: ends in an audit at the latest
}

}  // namespace
}  // namespace hearth

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hearth::set_log_level(hearth::LogLevel::kQuiet);
  hearth::attempt([&] { hearth::check(std::string(reinterpret_cast<const char*>(data), size)); });
  return 0;
}
