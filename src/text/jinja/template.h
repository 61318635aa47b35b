// A Jinja2 template, as chat templates use the language: parse once, render many times.
//
// The language is Jinja2 3.1 in its immutable sandbox with trim_blocks and lstrip_blocks, `break` and `continue`, `do`
// and `{% generation %}`: what Hugging Face's transformers gives to chat templates. A template stands alone (no include,
// import or extends), sees no clock but `strftime_now` and no randomness.
#pragma once

#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/jinja/budget.h"
#include "text/prompt.h"

namespace hearth::jinja {

struct Ast;

// Who wrote the strings within a variable.
enum class Trust : uint8_t {
  kTemplate,  // as good as the template's own text: special tokens, our own settings
  kRequest,   // a stranger: messages, tools, documents, extra arguments
};

// A variable of the template. Borrows the value for the time of the call.
struct Variable {
  std::string_view name;
  const Json* value;
  Trust trust;
};

// Decides for a string member `key`: `text` of a request's objects whether it is trusted after all.
using TrustedWord = bool (*)(std::string_view key, std::string_view text);

// A value: copies share the parsed tree, and any number of threads may render at once.
class Template {
 public:
  // `name` appears in messages. Throws kCorruptData ("NAME:LINE:COLUMN: what is wrong"), kUnsupported for include and
  // its kin.
  static Template parse(std::string_view source, std::string_view name);

  struct Settings {
    Limits limits;
    std::tm now{};                       // for strftime_now
    TrustedWord trusted_word = nullptr;  // none if null
  };
  // The text in runs of one origin each, neighbours differing. Throws kInvalidArgument when the template fails or raises
  // an exception of its own, kResourceExhausted when it exceeds its limits; both with name, line and column.
  std::vector<PromptSegment> render(std::span<const Variable> variables,
                                    const Settings& settings) const;

  bool uses_variable(std::string_view name) const;

 private:
  Template(std::string name, std::shared_ptr<const Ast> ast)
      : name_(std::move(name)), ast_(std::move(ast)) {}
  std::string name_;
  std::shared_ptr<const Ast> ast_;
};

// The segments' texts in one string.
std::string joined_text(std::span<const PromptSegment> segments);

}  // namespace hearth::jinja
