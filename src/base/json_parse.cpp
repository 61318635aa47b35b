// The only file that includes Boost.JSON's parser (1.7 s of compile time).
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>

#include "base/error.h"
#include "base/json.h"

namespace hearth {
namespace {

namespace bj = boost::json;

// Builds our values from the parser's events.
class Builder {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  using Ec = bj::error_code;

  bool on_document_begin(Ec&) { return true; }
  bool on_document_end(Ec&) { return true; }
  bool on_array_begin(Ec&) { return open(Json::array()); }
  bool on_array_end(std::size_t, Ec&) { return close(); }
  bool on_object_begin(Ec&) { return open(Json::object()); }
  bool on_object_end(std::size_t, Ec&) { return close(); }
  bool on_string_part(bj::string_view s, std::size_t, Ec&) { return append(s); }
  bool on_string(bj::string_view s, std::size_t, Ec&) {
    append(s);
    return add(Json(take_text()));
  }
  bool on_key_part(bj::string_view s, std::size_t, Ec&) { return append(s); }
  bool on_key(bj::string_view s, std::size_t, Ec&) {
    append(s);
    frames_.back().key = take_text();
    return true;
  }
  bool on_number_part(bj::string_view s, Ec&) { return append(s); }
  bool on_int64(std::int64_t i, bj::string_view, Ec&) {
    text_.clear();
    return add(Json(int64_t{i}));
  }
  bool on_uint64(std::uint64_t u, bj::string_view, Ec&) {
    text_.clear();
    return add(Json(static_cast<double>(u)));
  }
  // Boost 1.81 rounds some decimals to a neighbour; the digits themselves are read again.
  bool on_double(double approximate, bj::string_view s, Ec&) {
    append(s);
    const std::string digits = take_text();
    double exact = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exact);
    return add(
        Json(error == std::errc() && end == digits.data() + digits.size() ? exact : approximate));
  }
  bool on_bool(bool b, Ec&) { return add(Json(b)); }
  bool on_null(Ec&) { return add(Json()); }
  bool on_comment_part(bj::string_view, Ec&) { return true; }
  bool on_comment(bj::string_view, Ec&) { return true; }

  Json take() { return std::move(root_); }

 private:
  struct Frame {
    Json value;
    std::string key;  // of the member being read, when value is an object
  };

  bool append(bj::string_view s) {
    text_.append(s.data(), s.size());
    return true;
  }
  std::string take_text() { return std::exchange(text_, {}); }
  bool open(Json container) {
    frames_.push_back({std::move(container), {}});
    return true;
  }
  bool close() {
    Json done = std::move(frames_.back().value);
    frames_.pop_back();
    return add(std::move(done));
  }
  bool add(Json value) {
    if (frames_.empty()) {
      root_ = std::move(value);
    } else if (Frame& top = frames_.back(); top.value.is_object()) {
      top.value.as_object().set(std::move(top.key), std::move(value));
    } else {
      top.value.as_array().push_back(std::move(value));
    }
    return true;
  }

  Json root_;
  std::vector<Frame> frames_;
  std::string text_;
};

// Replaces bare Infinity, which JSON lacks and Python writes, by a number that parses to it. (NaN stays an error: no
// setting of a model means it.)
std::string without_nonfinite(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < text.size())
        out += text[++i];
      else if (c == '"')
        in_string = false;
    } else if (text.substr(i).starts_with("Infinity")) {
      out += "1e400";
      i += 7;
    } else {
      in_string = c == '"';
      out += c;
    }
  }
  return out;
}

}  // namespace

Json Json::parse(std::string_view text, const JsonLimits& limits) {
  std::string replaced;
  if (limits.allow_nonfinite && text.find("Infinity") != text.npos) {
    replaced = without_nonfinite(text);
    text = replaced;
  }
  bj::parse_options options;
  options.max_depth = static_cast<std::size_t>(limits.max_depth);
  bj::basic_parser<Builder> parser(options);
  bj::error_code error;
  size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error) {
    while (used < text.size() &&
           std::string_view(" \t\r\n").find(text[used]) != std::string_view::npos)
      ++used;
    if (used < text.size()) error = bj::error::extra_data;
  }
  if (error) {
    const std::string_view before = text.substr(0, std::min(used, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t start = before.rfind('\n');
    const size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    fail(Code::kCorruptData, "not valid JSON at line ", line, ", column ", column, ": ",
         error.message());
  }
  return parser.handler().take();
}

}  // namespace hearth
