#include "text/jinja/printing.h"

#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja/character.h"
#include "text/jinja/interpreter.h"

namespace hearth::jinja {
namespace {

void append_hex(std::string& out, char kind, int32_t value, int digits) {
  out += '\\';
  out += kind;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    out += "0123456789abcdef"[(value >> shift) & 15];
}

std::string escape_char(int32_t c, std::string_view as_is, char quote) {
  std::string out;
  if (c == '\\' || c == quote) {
    out = {'\\', static_cast<char>(c)};
  } else if (c == '\n' || c == '\r' || c == '\t') {
    out = {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'};
  } else if (is_printable(c)) {
    out = as_is;
  } else if (c >= 0xDC80 && c <= 0xDCFF) {
    append_hex(out, 'u', c, 4);
  } else if (c < 0x100) {
    append_hex(out, 'x', c, 2);
  } else if (c < 0x10000) {
    append_hex(out, 'u', c, 4);
  } else {
    append_hex(out, 'U', c, 8);
  }
  return out;
}

bool needs_escape(unsigned char c) {
  return c < 0x20 || c >= 0x7F || c == '\\' || c == '\'' || c == '"';
}

void append_items(Heap& heap, StrBuilder& out, const std::vector<Value>& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append_template(", ");
    append_repr(heap, out, items[i]);
  }
}

void append_dict(Heap& heap, StrBuilder& out, const Dict& dict) {
  out.append_template("{");
  for (size_t i = 0; i < dict.entries.size(); ++i) {
    if (i > 0) out.append_template(", ");
    append_repr(heap, out, dict.entries[i].first);
    out.append_template(": ");
    append_repr(heap, out, dict.entries[i].second);
  }
  out.append_template("}");
}

void append_view(Heap& heap, StrBuilder& out, const Value& view) {
  out.append_template(type_name(view));
  out.append_template("([");
  const auto& entries = view.as<DictView>().dict->entries;
  const auto part = view.as<DictView>().part;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) out.append_template(", ");
    if (part == DictView::Part::kItems) out.append_template("(");
    if (part != DictView::Part::kValues) append_repr(heap, out, entries[i].first);
    if (part == DictView::Part::kItems) out.append_template(", ");
    if (part != DictView::Part::kKeys) append_repr(heap, out, entries[i].second);
    if (part == DictView::Part::kItems) out.append_template(")");
  }
  out.append_template("])");
}

void append_object(Heap& heap, StrBuilder& out, const Value& value) {
  switch (value.kind()) {
    case Kind::kNamespace:
      out.append_template("<Namespace ");
      append_dict(heap, out, value.as<Namespace>().attributes);
      return out.append_template(">");
    case Kind::kMacro: {
      const Str& name = value.as<Macro>().definition->name;
      if (name.empty()) return out.append_template("<Macro anonymous>");
      out.append_template("<Macro ");
      append_string_repr(out, name);
      return out.append_template(">");
    }
    case Kind::kFunction:
      out.append_template("<function ");
      out.append_template(value.as<Function>().native->name);
      return out.append_template(">");
    case Kind::kLoop: {
      auto& loop = value.as<Loop>();
      out.append_template("<LoopContext " + std::to_string(loop.index0 + 1) + "/" +
                          std::to_string(loop.length(heap)) + ">");
      return;
    }
    default:
      out.append_template("<");
      out.append_template(type_name(value));
      return out.append_template(" object>");
  }
}

}  // namespace

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return format_double(value);
}

void append_string_repr(StrBuilder& out, const Str& s) {
  const std::string_view text = s.view();
  const char quote =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"'
                                                                                            : '\'';
  if (s.is_markup()) out.append_template("Markup(");
  out.append_template(std::string_view(&quote, 1));
  int64_t begin = 0;
  for (int64_t at = 0; at < s.size();) {
    if (!needs_escape(static_cast<unsigned char>(text[static_cast<size_t>(at)]))) {
      ++at;
      continue;
    }
    const int64_t bytes = char_bytes(text, at);
    const std::string_view as_is = text.substr(static_cast<size_t>(at), static_cast<size_t>(bytes));
    const std::string escaped = escape_char(char_at(text, at, bytes), as_is, quote);
    if (escaped != as_is) {
      out.append(s, begin, at);
      out.append(escaped, is_untrusted(s, at, at + bytes) ? Origin::kRequest : Origin::kTemplate);
      begin = at + bytes;
    }
    at += bytes;
  }
  out.append(s, begin, s.size());
  out.append_template(std::string_view(&quote, 1));
  if (s.is_markup()) out.append_template(")");
}

void append_repr(Heap& heap, StrBuilder& out, const Value& value) {
  heap.budget().step();
  const DepthGuard guard(heap.budget());
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kScope:
    case Kind::kUndefined:
      return out.append_template("Undefined");
    case Kind::kNone:
      return out.append_template("None");
    case Kind::kBool:
      return out.append_template(value.as_bool() ? "True" : "False");
    case Kind::kInt:
      return out.append_template(std::to_string(value.as_int()));
    case Kind::kFloat:
      return out.append_template(float_repr(value.as_float()));
    case Kind::kString:
      return append_string_repr(out, value.str());
    case Kind::kList:
      out.append_template("[");
      append_items(heap, out, value.as<List>().items);
      return out.append_template("]");
    case Kind::kTuple:
      out.append_template("(");
      append_items(heap, out, value.as<List>().items);
      return out.append_template(value.as<List>().items.size() == 1 ? ",)" : ")");
    case Kind::kDict:
      return append_dict(heap, out, value.as<Dict>());
    case Kind::kDictView:
      return append_view(heap, out, value);
    case Kind::kRange: {
      const auto& range = value.as<Range>();
      out.append_template("range(" + std::to_string(range.start) + ", " +
                          std::to_string(range.stop));
      if (range.step != 1) out.append_template(", " + std::to_string(range.step));
      return out.append_template(")");
    }
    default:
      return append_object(heap, out, value);
  }
}

void append_text(Heap& heap, StrBuilder& out, const Value& value) {
  if (value.is_string()) {
    out.append(value.str());
  } else if (!value.is_undefined()) {
    append_repr(heap, out, value);
  }
}

Str to_text(Heap& heap, const Value& value) {
  if (value.is_string()) return value.str();
  StrBuilder out(heap.budget());
  append_text(heap, out, value);
  return out.take();
}

std::string plain_repr(Heap& heap, const Value& value) {
  constexpr size_t kMax = 80;
  StrBuilder out(heap.budget());
  append_repr(heap, out, value);
  std::string text(out.view());
  if (text.size() > kMax) text = text.substr(0, kMax) + "...";
  return text;
}

}  // namespace hearth::jinja
