// A checkpoint's chat template: turns messages and tools into the prompt its model was trained on.
//
// Found as transformers finds it, in this order: `chat_template.jinja` (more of them by name in
// `additional_chat_templates/`), `chat_template` in `tokenizer_config.json` (a string, or a list of {name, template}),
// `chat_template.json`. Of several, `tool_use` is taken when there are tools, else `default`.
//
// The template sees `messages`, `tools` and `documents` (None when absent), `add_generation_prompt`, the special tokens of
// the tokenizer (`bos_token`, `eos_token`, ...) and whatever extra arguments a request has. Messages go in as they are:
// a template that expects string content fails on a list of parts and the other way round, as in transformers.
//
// What comes from the request is marked untrusted in the result, so that a control token spelled inside a message stays
// text. Two kinds of words are exempt because templates build control tokens from them ('<|' + message.role + '|>'): the
// usual roles ("user", "assistant", ...) and types of content parts ("text", "image", ...).
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/jinja/template.h"
#include "text/prompt.h"

namespace hearth {

struct RenderOptions {
  bool add_generation_prompt = true;
  std::optional<bool> enable_thinking =
      std::nullopt;                     // the template's variable of that name; not set if absent
  Json kwargs = {};                     // an object of more variables, or null
  Json documents = {};                  // an array, or null
  std::string_view template_name = {};  // of a named list; empty: chosen as above
  // End the prompt within the last message, so that the model goes on with it (and add_generation_prompt is false).
  bool continue_final_message = false;
  std::optional<std::tm> now =
      std::nullopt;  // local time for strftime_now; the system's clock if absent
  jinja::Limits limits = {};
};

struct RenderedPrompt {
  std::vector<PromptSegment> segments;
  std::string text() const;  // all of it
};

// A value: immutable, cheap to copy, to be used from any thread.
class ChatTemplate {
 public:
  // The template of a checkpoint's folder; nullopt when it has none. Throws kCorruptData with file, line and column
  // when there is one that can't be parsed.
  static std::optional<ChatTemplate> find(const std::filesystem::path& folder);

  // The same, but throws kNotFound, saying what to do, when there is none.
  static ChatTemplate load(const std::filesystem::path& folder);

  // One template from memory. `special_tokens` is an object like {"bos_token": "<s>"}, or null; `name` is for messages.
  static ChatTemplate parse(std::string_view source, std::string_view name,
                            const Json& special_tokens);

  // `tools` is an array or null. Throws kInvalidArgument when the template refuses the conversation (with its own words,
  // template name, line and column) or a name in kwargs is taken, and kResourceExhausted when it exceeds its limits.
  RenderedPrompt render(const Json& messages, const Json& tools,
                        const RenderOptions& options = {}) const;

  // Names of the templates; one without a name is "default".
  std::vector<std::string> names() const;
  // Whether any of the templates names this variable ("enable_thinking", "tools", ...).
  bool uses_variable(std::string_view name) const;
  // The source of the template that would be taken, for those who choose parsers by it.
  std::string_view source(bool has_tools) const;
  // {"bos_token": "<s>", ...}
  const Json& special_tokens() const;

 private:
  struct Named;
  struct Data;
  explicit ChatTemplate(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  static std::optional<ChatTemplate> make(std::vector<std::pair<std::string, std::string>> sources,
                                          std::string_view file, Json special_tokens);
  const Named& choose(std::string_view name, bool has_tools) const;
  std::shared_ptr<const Data> data_;
};

}  // namespace hearth
