#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/stable_order.h"

namespace hearth::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(Heap& heap, const JsonLayout& layout)
      : heap_(heap), layout_(layout), out_(heap.budget()) {}

  void write(const Value& value, int level) {
    heap_.budget().step();
    const DepthGuard guard(heap_.budget());
    switch (value.kind()) {
      case Kind::kString:
        return write_string(value.str());
      case Kind::kList:
      case Kind::kTuple:
        return write_list(value.as<List>().items, level);
      case Kind::kDict:
        return write_dict(value.as<Dict>(), level);
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        return out_.append_template(scalar(value));
      default:
        fail(Code::kInvalidArgument, "Object of type ", type_name(value),
             " is not JSON serializable");
    }
  }

  Str take() { return out_.take(); }

 private:
  static std::string scalar(const Value& value) {
    if (value.is_none()) return "null";
    if (value.is(Kind::kBool)) return value.as_bool() ? "true" : "false";
    return value.is(Kind::kInt) ? std::to_string(value.as_int()) : format_double(value.as_float());
  }

  // In one piece if it all has one origin, else span by span, so that each byte keeps its own.
  void write_string(const Str& s) {
    out_.append_template("\"");
    int64_t at = 0;
    for (const Span& span : s.untrusted()) {
      write_part(s, at, span.begin, Origin::kTemplate);
      write_part(s, span.begin, span.end, Origin::kRequest);
      at = span.end;
    }
    write_part(s, at, s.size(), Origin::kTemplate);
    out_.append_template("\"");
  }

  void write_part(const Str& s, int64_t begin, int64_t end, Origin origin) {
    if (begin >= end) return;
    std::string quoted;
    append_json_string(
        quoted, s.view().substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
        layout_.ensure_ascii);
    out_.append(std::string_view(quoted).substr(1, quoted.size() - 2), origin);
  }

  void write_key(const Value& key) {
    if (key.is_string()) return write_string(key.str());
    if (!key.is_none() && !key.is_number()) {
      fail(Code::kInvalidArgument, "keys must be str, int, float, bool or None, not ",
           type_name(key));
    }
    out_.append_template("\"" + scalar(key) + "\"");
  }

  void new_line(int level) {
    if (!layout_.has_indent) return;
    out_.append_template("\n");
    for (int i = 0; i < level; ++i) out_.append(layout_.indent);
  }

  void write_list(const std::vector<Value>& items, int level) {
    if (items.empty()) return out_.append_template("[]");
    out_.append_template("[");
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.append(layout_.item_separator);
      new_line(level + 1);
      write(items[i], level + 1);
    }
    new_line(level);
    out_.append_template("]");
  }

  void write_dict(const Dict& dict, int level) {
    if (dict.entries.empty()) return out_.append_template("{}");
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (layout_.sort_keys) {
      const auto order = stable_order(entries.size(), [&](size_t a, size_t b) {
        return less(heap_, dict.entries[a].first, dict.entries[b].first);
      });
      for (size_t i = 0; i < order.size(); ++i) entries[i] = &dict.entries[order[i]];
    }
    out_.append_template("{");
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_.append(layout_.item_separator);
      new_line(level + 1);
      write_key(entries[i]->first);
      out_.append(layout_.key_separator);
      write(entries[i]->second, level + 1);
    }
    new_line(level);
    out_.append_template("}");
  }

  Heap& heap_;
  const JsonLayout& layout_;
  StrBuilder out_;
};

}  // namespace

Str to_json(Heap& heap, const Value& value, const JsonLayout& layout) {
  JsonWriter writer(heap, layout);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace hearth::jinja
