#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "text/jinja/format.h"
#include "text/jinja/operators.h"
#include "text/jinja/printing.h"
#include "text/jinja/text_ops.h"

namespace hearth::jinja {
namespace {

constexpr int64_t kMaxFieldWidth = 1'000'000;
constexpr int64_t kMaxPrecision = 400;

struct Spec {
  bool is_left = false, has_plus = false, has_space = false, is_alternate = false, has_zero = false;
  int64_t width = 0;
  int64_t precision = -1;
  char type = 's';
};

class PercentFormatter {
 public:
  PercentFormatter(Heap& heap, const Str& pattern, const Value& arguments)
      : heap_(heap), pattern_(pattern), arguments_(arguments), out_(heap.budget()) {}

  Str run() {
    const std::string_view text = pattern_.view();
    int64_t begin = 0;
    while (true) {
      const size_t found = text.find('%', static_cast<size_t>(begin));
      if (found == std::string_view::npos) break;
      out_.append(pattern_, begin, static_cast<int64_t>(found));
      at_ = static_cast<int64_t>(found) + 1;
      format_one();
      begin = at_;
    }
    out_.append(pattern_, begin, pattern_.size());
    // Python counts arguments only if they can't be a mapping: anything with items by key might be one.
    const bool may_be_mapping = arguments_.is(Kind::kDict) || arguments_.is(Kind::kList) ||
                                arguments_.is(Kind::kRange) || arguments_.is_undefined();
    const size_t given = arguments_.is(Kind::kTuple) ? arguments_.as<List>().items.size() : 1;
    if (!uses_names_ && !may_be_mapping && taken_ < given) {
      fail(Code::kInvalidArgument, "not all arguments converted during string formatting");
    }
    return out_.take();
  }

 private:
  char take() {
    if (at_ >= pattern_.size()) fail(Code::kInvalidArgument, "incomplete format");
    return pattern_.view()[static_cast<size_t>(at_++)];
  }
  char peek() const {
    return at_ < pattern_.size() ? pattern_.view()[static_cast<size_t>(at_)] : '\0';
  }

  Value next_argument() {
    if (arguments_.is(Kind::kTuple)) {
      const auto& items = arguments_.as<List>().items;
      if (taken_ >= items.size())
        fail(Code::kInvalidArgument, "not enough arguments for format string");
      return items[taken_++];
    }
    if (taken_++ > 0) fail(Code::kInvalidArgument, "not enough arguments for format string");
    return arguments_;
  }

  int64_t read_number(int64_t limit) {
    if (peek() == '*') {
      ++at_;
      const Value value = next_argument();
      if (!value.is_integral()) fail(Code::kInvalidArgument, "* wants int");
      if (value.as_int() > limit || value.as_int() < -limit)
        fail(Code::kInvalidArgument, "format width too large");
      return value.as_int();
    }
    int64_t number = 0;
    while (peek() >= '0' && peek() <= '9') {
      number = number * 10 + (take() - '0');
      if (number > limit) fail(Code::kInvalidArgument, "format width too large");
    }
    return number;
  }

  void format_one() {
    Value value;
    if (peek() == '(') {
      ++at_;
      const int64_t begin = at_;
      for (int depth = 1; depth > 0;) {
        const char c = take();
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      }
      if (!arguments_.is(Kind::kDict)) fail(Code::kInvalidArgument, "format requires a mapping");
      const std::string_view key =
          pattern_.view().substr(static_cast<size_t>(begin), static_cast<size_t>(at_ - 1 - begin));
      const Value* found = arguments_.as<Dict>().find(key);
      if (found == nullptr)
        fail(Code::kInvalidArgument, "no key '", key, "' for the format string");
      value = *found;
      uses_names_ = true;
    }
    Spec spec;
    for (bool is_flag = true; is_flag;) {
      switch (peek()) {
        case '-':
          spec.is_left = true;
          break;
        case '+':
          spec.has_plus = true;
          break;
        case ' ':
          spec.has_space = true;
          break;
        case '#':
          spec.is_alternate = true;
          break;
        case '0':
          spec.has_zero = true;
          break;
        default:
          is_flag = false;
      }
      if (is_flag) ++at_;
    }
    spec.width = read_number(kMaxFieldWidth);
    if (spec.width < 0) {
      spec.is_left = true;
      spec.width = -spec.width;
    }
    if (peek() == '.') {
      ++at_;
      spec.precision = std::max<int64_t>(0, read_number(kMaxPrecision * 1000));
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
    spec.type = take();
    if (spec.type == '%') return out_.append_template("%");
    if (value.is_missing()) value = next_argument();
    write(spec, value);
  }

  void write(const Spec& spec, const Value& value) {
    Budget& budget = heap_.budget();
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a': {
        Str text;
        if (spec.type == 's') {
          text = to_text(heap_, value);
        } else {
          StrBuilder repr(budget);
          append_repr(heap_, repr, value);
          text = repr.take();
        }
        if (spec.precision >= 0 && spec.precision < text.chars()) {
          text = substr(budget, text, 0, text.offset_of_char(spec.precision));
        }
        return out_.append(
            pad(budget, text, spec.width, spec.is_left ? Align::kLeft : Align::kRight, " "));
      }
      case 'c': {
        std::string one;
        if (value.is_integral() && value.as_int() >= 0 && value.as_int() <= 0x10FFFF) {
          append_utf8(one, static_cast<int32_t>(value.as_int()));
        } else if (value.is_string() && value.str().chars() == 1) {
          return out_.append(pad(budget, value.str(), spec.width,
                                 spec.is_left ? Align::kLeft : Align::kRight, " "));
        } else {
          fail(Code::kInvalidArgument, "%c requires int or char");
        }
        return out_.append(pad(budget, Str(&budget, one, Origin::kTemplate), spec.width,
                               spec.is_left ? Align::kLeft : Align::kRight, " "));
      }
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return write_integer(spec, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return write_float(spec, value);
      default:
        fail(Code::kInvalidArgument, "unsupported format character '", spec.type, "'");
    }
  }

  void write_integer(const Spec& spec, const Value& value) {
    int64_t number = 0;
    const bool is_decimal = spec.type == 'd' || spec.type == 'i' || spec.type == 'u';
    if (value.is_integral()) {
      number = value.as_int();
    } else if (value.is(Kind::kFloat) && is_decimal && std::isfinite(value.as_float())) {
      if (std::abs(value.as_float()) >= 9.2e18) {
        fail(Code::kInvalidArgument, "integer does not fit 64 bits");
      }
      number = static_cast<int64_t>(value.as_float());
    } else {
      if (value.is_undefined()) refuse_undefined(value);
      fail(Code::kInvalidArgument, "%", spec.type, " format: a real number is required, not ",
           type_name(value));
    }
    const uint64_t magnitude =
        number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    std::string digits = integer_digits(magnitude, is_decimal ? 10 : spec.type == 'o' ? 8 : 16);
    if (spec.precision > static_cast<int64_t>(digits.size())) {
      digits.insert(0, static_cast<size_t>(spec.precision) - digits.size(), '0');
    }
    std::string_view prefix;
    if (spec.is_alternate && !is_decimal)
      prefix = spec.type == 'o' ? "0o" : spec.type == 'x' ? "0x" : "0X";
    if (spec.type == 'X')
      std::ranges::transform(digits, digits.begin(),
                             [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
    write_number(spec, number < 0, prefix, digits);
  }

  void write_float(const Spec& spec, const Value& value) {
    if (!value.is_number()) {
      if (value.is_undefined()) refuse_undefined(value);
      fail(Code::kInvalidArgument, "must be real number, not ", type_name(value));
    }
    if (spec.precision > kMaxPrecision) fail(Code::kInvalidArgument, "precision too large");
    const double number = value.as_float();
    const char style = spec.type < 'a' ? static_cast<char>(spec.type + 32) : spec.type;
    std::string digits =
        float_digits(std::abs(number), style,
                     spec.precision < 0 ? 6 : static_cast<int>(spec.precision), spec.is_alternate);
    if (spec.type < 'a')
      std::ranges::transform(digits, digits.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      });
    write_number(spec, std::signbit(number) && !std::isnan(number), "", digits);
  }

  void write_number(const Spec& spec, bool is_negative, std::string_view prefix,
                    std::string digits) {
    const std::string_view sign = is_negative      ? "-"
                                  : spec.has_plus  ? "+"
                                  : spec.has_space ? " "
                                                   : "";
    const auto used = static_cast<int64_t>(sign.size() + prefix.size() + digits.size());
    if (spec.has_zero && !spec.is_left && used < spec.width) {
      digits.insert(0, static_cast<size_t>(spec.width - used), '0');
    }
    std::string whole(sign);
    whole.append(prefix).append(digits);
    const Str text(&heap_.budget(), std::move(whole), Origin::kTemplate);
    out_.append(
        pad(heap_.budget(), text, spec.width, spec.is_left ? Align::kLeft : Align::kRight, " "));
  }

  Heap& heap_;
  const Str& pattern_;
  const Value& arguments_;
  StrBuilder out_;
  int64_t at_ = 0;
  size_t taken_ = 0;
  bool uses_names_ = false;
};

}  // namespace

Str format_percent(Heap& heap, const Str& pattern, const Value& arguments) {
  return PercentFormatter(heap, pattern, arguments).run();
}

std::string integer_digits(uint64_t value, int base) {
  char buffer[72];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, base);
  return std::string(buffer, end);
}

std::string float_digits(double value, char style, int precision, bool is_alternate) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const auto format = style == 'e'   ? std::chars_format::scientific
                      : style == 'f' ? std::chars_format::fixed
                                     : std::chars_format::general;
  std::string out(static_cast<size_t>(precision) + 400, '\0');
  const auto [end, error] =
      std::to_chars(out.data(), out.data() + out.size(), value, format, precision);
  HEARTH_CHECK(error == std::errc(), "number does not fit its buffer");
  out.resize(static_cast<size_t>(end - out.data()));
  if (!is_alternate) return out;
  const size_t exponent = out.find('e');
  std::string mantissa = out.substr(0, exponent);
  const std::string tail = exponent == std::string::npos ? "" : out.substr(exponent);
  if (mantissa.find('.') == std::string::npos) mantissa += '.';
  if (style == 'g') {
    const auto significant =
        std::ranges::count_if(mantissa, [](char c) { return c >= '0' && c <= '9'; });
    for (auto i = significant; i < std::max(precision, 1); ++i) mantissa += '0';
  }
  return mantissa + tail;
}

double round_to(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 323) return value;
  if (digits < -308) return std::copysign(0.0, value);
  if (digits < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(value / unit) * unit;
  }
  const std::string text = float_digits(value, 'f', static_cast<int>(digits), false);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

}  // namespace hearth::jinja
