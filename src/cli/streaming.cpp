#include "cli/streaming.h"

#include <fmt/core.h>

#include "cli/session.h"
#include "cli/terminal.h"
#include "kernels/table.h"
#include "text/detokenizer.h"

namespace hearth::cli {
namespace {

double rate(int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
}

}  // namespace

StreamResult stream(Engine& engine, const Generation& generation, const Tokenizer& tokenizer,
                    std::span<const int32_t> before, function_ref<void(std::string_view)> emit) {
  StreamResult result;
  StreamDecoder decoder(tokenizer);
  for (const int32_t id : before) decoder.push(id);
  const auto give = [&](const std::string& piece) {
    if (piece.empty()) return;
    result.text += piece;
    emit(piece);
  };
  const Stopwatch watch;
  size_t seen = 0;
  while (!generation.finish) {
    if (take_interrupt())
      engine.cancel(generation.id);
    else
      engine.step();
    for (; seen < generation.tokens.size(); ++seen) {
      if (seen == 0) result.first_token_seconds = watch.seconds();
      give(decoder.push(generation.tokens[seen].token));
    }
  }
  give(decoder.finish());
  result.total_seconds = watch.seconds();
  if (seen == 0) result.first_token_seconds = result.total_seconds;
  result.prompt_tokens = generation.prompt_tokens;
  result.generated_tokens = static_cast<int64_t>(generation.tokens.size());
  result.threads = engine.threads();
  return result;
}

Json StreamResult::timings() const {
  const double generating = total_seconds - first_token_seconds;
  return Json::object({{"prompt_seconds", first_token_seconds},
                       {"prompt_tokens_per_second", rate(prompt_tokens, first_token_seconds)},
                       {"generate_seconds", generating},
                       {"generate_tokens_per_second", rate(generated_tokens - 1, generating)},
                       {"threads", threads},
                       {"target", kernels::table().target}});
}

std::string StreamResult::summary(const Generation& generation, const Session& session) const {
  const double generating = total_seconds - first_token_seconds;
  return fmt::format(
      "opened in {:.0f} ms; {} prompt tokens in {:.1f} ms ({:.0f}/s); {} tokens in {:.1f} ms "
      "({:.0f}/s); {} thread{}, {}; "
      "finished: {}",
      session.open_seconds * 1e3, prompt_tokens, first_token_seconds * 1e3,
      rate(prompt_tokens, first_token_seconds), generated_tokens, generating * 1e3,
      rate(generated_tokens - 1, generating), threads, threads == 1 ? "" : "s",
      kernels::table().target, name(*generation.finish));
}

}  // namespace hearth::cli
