#include "text/jinja/template.h"

#include <algorithm>

#include "base/error.h"
#include "text/jinja/ast.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/parser.h"

namespace hearth::jinja {
namespace {

class Converter {
 public:
  Converter(Heap& heap, Trust trust, TrustedWord trusted_word)
      : heap_(heap), trust_(trust), trusted_word_(trusted_word) {}

  Value convert(const Json& json, std::string_view key = {}) {
    const DepthGuard guard(heap_.budget());
    if (json.is_bool()) return Value::boolean(json.as_bool());
    if (json.is_int()) return Value::integer(json.as_int());
    if (json.is_double()) return Value::real(json.as_double());
    if (json.is_string()) {
      const std::string& text = json.as_string();
      const bool is_trusted =
          trust_ == Trust::kTemplate || (trusted_word_ != nullptr && trusted_word_(key, text));
      return string(text, is_trusted ? Origin::kTemplate : Origin::kRequest);
    }
    if (json.is_array()) {
      List& list = heap_.make<List>(Kind::kList);
      for (const Json& item : json.as_array()) heap_.push(list, convert(item));
      return Value::object(&list);
    }
    if (json.is_object()) {
      Dict& dict = heap_.make<Dict>();
      const Origin origin = trust_ == Trust::kTemplate ? Origin::kTemplate : Origin::kRequest;
      for (const auto& [name, value] : json.as_object())
        heap_.set(dict, string(name, origin), convert(value, name));
      return Value::object(&dict);
    }
    return Value::none();
  }

 private:
  Value string(const std::string& text, Origin origin) {
    return Value::string(Str(&heap_.budget(), text, origin));
  }

  Heap& heap_;
  Trust trust_;
  TrustedWord trusted_word_;
};

std::vector<PromptSegment> to_segments(const Str& page) {
  std::vector<PromptSegment> segments;
  const auto add = [&](int64_t begin, int64_t end, bool trusted) {
    if (begin >= end) return;
    segments.push_back({std::string(page.view().substr(static_cast<size_t>(begin),
                                                       static_cast<size_t>(end - begin))),
                        trusted});
  };
  int64_t at = 0;
  for (const Span& span : page.untrusted()) {
    add(at, span.begin, true);
    add(span.begin, span.end, false);
    at = span.end;
  }
  add(at, page.size(), true);
  return segments;
}

}  // namespace

Template Template::parse(std::string_view source, std::string_view name) {
  try {
    return Template(std::string(name), std::make_shared<const Ast>(jinja::parse(source)));
  } catch (const Error& error) {
    throw Error(error.code(), std::string(name) + ":" + error.message());
  }
}

bool Template::uses_variable(std::string_view name) const {
  return std::ranges::find(ast_->symbols, name) != ast_->symbols.end();
}

std::vector<PromptSegment> Template::render(std::span<const Variable> variables,
                                            const Settings& settings) const {
  Interpreter interpreter(*ast_, settings.limits, settings.now);
  try {
    for (const Variable& variable : variables) {
      if (!uses_variable(variable.name)) continue;
      Converter converter(interpreter.heap(), variable.trust, settings.trusted_word);
      interpreter.set_variable(variable.name, converter.convert(*variable.value));
    }
    return to_segments(interpreter.run());
  } catch (const Error& error) {
    const Position at = interpreter.position();
    throw Error(error.code(), name_ + ":" + std::to_string(at.line) + ":" +
                                  std::to_string(at.column) + ": " + error.message());
  }
}

std::string joined_text(std::span<const PromptSegment> segments) {
  std::string text;
  for (const PromptSegment& segment : segments) text += segment.text;
  return text;
}

}  // namespace hearth::jinja
