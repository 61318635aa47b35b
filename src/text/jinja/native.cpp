#include "text/jinja/native.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "text/jinja/operators.h"

namespace hearth::jinja {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string_view word_at(std::string_view text, size_t index) {
  auto words = words_of(text);
  std::erase(words, "/");
  return index < words.size() ? words[index] : "";
}

}  // namespace

Bound::Bound(const Native& native, Arguments arguments) : native_(&native) {
  const auto words = words_of(native.parameters);
  const bool is_positional_only = !words.empty() && words.front() == "/";
  const bool takes_rest = std::ranges::find(words, "*") != words.end();
  const bool takes_named_rest = std::ranges::find(words, "**") != words.end();
  const size_t first = is_positional_only ? 1 : 0;
  const size_t count = words.size() - first - (takes_rest ? 1 : 0) - (takes_named_rest ? 1 : 0);
  values_.resize(count);
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < count) {
      values_[i] = std::move(arguments.positional[i]);
    } else if (takes_rest) {
      rest_.push_back(std::move(arguments.positional[i]));
    } else {
      fail(Code::kInvalidArgument, native.name, "() takes at most ", count, " arguments (",
           arguments.positional.size(), " given)");
    }
  }
  for (auto& [name, value] : arguments.named) {
    size_t at = count;
    if (!is_positional_only) {
      at = static_cast<size_t>(
          std::find(words.begin(), words.begin() + static_cast<int64_t>(count), name.view()) -
          words.begin());
    }
    if (at < count) {
      if (has(at))
        fail(Code::kInvalidArgument, native.name, "() got multiple values for argument '",
             name.view(), "'");
      values_[at] = std::move(value);
    } else if (takes_named_rest) {
      named_rest_.emplace_back(name, std::move(value));
    } else {
      fail(Code::kInvalidArgument, native.name, "() got an unexpected keyword argument '",
           name.view(), "'");
    }
  }
  for (size_t i = 0; i < static_cast<size_t>(native.required); ++i) {
    if (!has(i))
      fail(Code::kInvalidArgument, native.name, "() missing required argument '",
           word_at(native.parameters, i), "'");
  }
}

void Bound::refuse(size_t i, std::string_view expected) const {
  if (values_[i].is_undefined()) refuse_undefined(values_[i]);
  fail(Code::kInvalidArgument, native_->name, "() argument '", word_at(native_->parameters, i),
       "' must be ", expected, ", not ", type_name(values_[i]));
}

int64_t Bound::int_or(size_t i, int64_t otherwise) const {
  if (!has(i)) return otherwise;
  if (!values_[i].is_integral()) refuse(i, "int");
  return values_[i].as_int();
}

bool Bound::bool_or(size_t i, bool otherwise) const {
  return has(i) ? is_true(values_[i]) : otherwise;
}

const Str& Bound::str(size_t i) const {
  if (!values_[i].is_string()) refuse(i, "str");
  return values_[i].str();
}

bool is_mutating_method(const Value& object, std::string_view name) {
  constexpr std::string_view kList[] = {"append", "clear", "pop",    "reverse",
                                        "insert", "sort",  "extend", "remove"};
  constexpr std::string_view kDict[] = {"clear", "pop", "popitem", "setdefault", "update"};
  if (object.is(Kind::kList)) return std::ranges::find(kList, name) != std::end(kList);
  return object.is(Kind::kDict) && std::ranges::find(kDict, name) != std::end(kDict);
}

}  // namespace hearth::jinja
