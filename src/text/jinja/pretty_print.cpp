#include <string>
#include <vector>

#include "text/jinja/character.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/stable_order.h"

namespace hearth::jinja {
namespace {

constexpr int64_t kWidth = 80;

int64_t width_of(const std::string& text) { return count_chars(text); }

// pprint.PrettyPrinter of CPython 3.11 with its default settings.
class PrettyPrinter {
 public:
  explicit PrettyPrinter(Heap& heap) : heap_(heap) {}

  // `level` is 1 for the outermost value.
  void write(const Value& value, int64_t indent, int64_t allowance, int level) {
    const DepthGuard guard(heap_.budget());
    const Value ordered = sorted(value);
    std::string text = repr(ordered);
    if (width_of(text) <= kWidth - indent - allowance) {
      put(text);
    } else if (value.is(Kind::kDict)) {
      write_dict(ordered.as<Dict>(), indent, allowance, level);
    } else if (value.is_sequence()) {
      write_items(ordered, indent, allowance, level);
    } else if (value.is_string()) {
      write_string(value.str(), indent, allowance, level);
    } else {
      put(text);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void put(std::string_view text) {
    heap_.budget().grow(
        static_cast<int64_t>(text.size()));  // never given back: one filter call cannot matter much
    out_ += text;
  }

  std::string repr(const Value& value) {
    StrBuilder out(heap_.budget());
    append_repr(heap_, out, value);
    return std::string(out.view());
  }

  // Python sorts keys that can't be compared by the names of their types.
  bool comes_before(const Value& a, const Value& b) {
    const bool is_comparable = (a.is_string() && b.is_string()) || (a.is_number() && b.is_number());
    return is_comparable ? less(heap_, a, b) : type_name(a) < type_name(b);
  }

  // Dicts with their keys in order, at every depth.
  Value sorted(const Value& value) {
    const DepthGuard guard(heap_.budget());
    heap_.budget().step();
    if (value.is_sequence()) {
      List& list = heap_.make<List>(value.kind());
      for (const Value& item : value.as<List>().items) heap_.push(list, sorted(item));
      return Value::object(&list);
    }
    if (!value.is(Kind::kDict)) return value;
    const auto& entries = value.as<Dict>().entries;
    const auto order = stable_order(entries.size(), [&](size_t a, size_t b) {
      return comes_before(entries[a].first, entries[b].first);
    });
    Dict& dict = heap_.make<Dict>();
    for (const size_t i : order) heap_.set(dict, entries[i].first, sorted(entries[i].second));
    return Value::object(&dict);
  }

  void break_line(int64_t indent) { put(",\n" + std::string(static_cast<size_t>(indent), ' ')); }

  void write_dict(const Dict& dict, int64_t indent, int64_t allowance, int level) {
    put("{");
    for (size_t i = 0; i < dict.entries.size(); ++i) {
      const bool is_last = i + 1 == dict.entries.size();
      const std::string key = repr(dict.entries[i].first);
      put(key + ": ");
      write(dict.entries[i].second, indent + 1 + width_of(key) + 2, is_last ? allowance + 1 : 1,
            level + 1);
      if (!is_last) break_line(indent + 1);
    }
    put("}");
  }

  void write_items(const Value& value, int64_t indent, int64_t allowance, int level) {
    const auto& items = value.as<List>().items;
    const std::string end = value.is(Kind::kList) ? "]" : items.size() == 1 ? ",)" : ")";
    put(value.is(Kind::kList) ? "[" : "(");
    for (size_t i = 0; i < items.size(); ++i) {
      const bool is_last = i + 1 == items.size();
      write(items[i], indent + 1, is_last ? allowance + static_cast<int64_t>(end.size()) : 1,
            level + 1);
      if (!is_last) break_line(indent + 1);
    }
    put(end);
  }

  std::string quoted(std::string_view text) {
    return repr(Value::string(Str(&heap_.budget(), std::string(text), Origin::kTemplate)));
  }

  // Cuts "word space word space" after each space.
  static std::vector<std::string> words(std::string_view line) {
    std::vector<std::string> parts;
    std::string part;
    bool in_space = false;
    for (int64_t at = 0; at < static_cast<int64_t>(line.size());) {
      const int64_t bytes = char_bytes(line, at);
      const bool space = is_space(char_at(line, at, bytes));
      if (in_space && !space) parts.push_back(std::exchange(part, {}));
      in_space = space;
      part += line.substr(static_cast<size_t>(at), static_cast<size_t>(bytes));
      at += bytes;
    }
    if (!part.empty()) parts.push_back(part);
    return parts;
  }

  void write_string(const Str& s, int64_t indent, int64_t allowance, int level) {
    std::vector<std::string> chunks;
    const auto lines = lines_of(s);
    if (level == 1) {
      ++indent;
      ++allowance;
    }
    const int64_t width = kWidth - indent;
    for (size_t i = 0; i < lines.size(); ++i) {
      const bool is_last_line = i + 1 == lines.size();
      const std::string whole = quoted(lines[i]);
      if (width_of(whole) <= width - (is_last_line ? allowance : 0)) {
        chunks.push_back(whole);
        continue;
      }
      std::string current;
      const auto parts = words(lines[i]);
      for (size_t j = 0; j < parts.size(); ++j) {
        const bool is_end = is_last_line && j + 1 == parts.size();
        const std::string candidate = current + parts[j];
        if (width_of(quoted(candidate)) > width - (is_end ? allowance : 0)) {
          if (!current.empty()) chunks.push_back(quoted(current));
          current = parts[j];
        } else {
          current = candidate;
        }
      }
      if (!current.empty()) chunks.push_back(quoted(current));
    }
    if (chunks.size() == 1) return put(chunks[0]);
    if (level == 1) put("(");
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (i > 0) put("\n" + std::string(static_cast<size_t>(indent), ' '));
      put(chunks[i]);
    }
    if (level == 1) put(")");
  }

  static std::vector<std::string> lines_of(const Str& s) {
    std::vector<std::string> lines;
    std::string line;
    const std::string_view text = s.view();
    for (int64_t at = 0; at < s.size();) {
      int64_t bytes = char_bytes(text, at);
      const bool ends = is_line_end(char_at(text, at, bytes));
      if (text.substr(static_cast<size_t>(at)).starts_with("\r\n")) bytes = 2;
      line += text.substr(static_cast<size_t>(at), static_cast<size_t>(bytes));
      at += bytes;
      if (ends) lines.push_back(std::exchange(line, {}));
    }
    if (!line.empty()) lines.push_back(line);
    return lines;
  }

  Heap& heap_;
  std::string out_;
};

}  // namespace

Str pretty_print(Heap& heap, const Value& value) {
  StrBuilder plain(heap.budget());
  append_repr(heap, plain, value);
  const Str source = plain.take();
  PrettyPrinter printer(heap);
  printer.write(value, 0, 0, 1);
  return derived(heap.budget(), printer.take(), std::span(&source, 1));
}

}  // namespace hearth::jinja
