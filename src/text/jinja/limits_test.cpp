#include <string>

#include <doctest/doctest.h>

#include "support/templates.h"

namespace hearth::jinja {
namespace {

using test_support::failure_of;

// Small enough that each case ends at once, large enough for any honest template here.
constexpr Limits kSmall{
    .max_steps = 200'000, .max_output_bytes = 1 << 20, .max_live_bytes = 8 << 20};

void check_exhausts(const std::string& source) {
  CAPTURE(source.substr(0, 200));
  const auto failure = failure_of(source, Json::object(), kSmall);
  REQUIRE(failure.has_value());
  CHECK_MESSAGE(failure->code() == Code::kResourceExhausted, failure->message());
}

TEST_CASE("a template that would run or grow without end stops with an error") {
  check_exhausts(
      "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor "
      "%}{% endfor %}{% endfor %}");
  check_exhausts(
      "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s "
      "%}{% endfor %}");
  check_exhausts("{{ 'a' * 999999999999 }}");
  check_exhausts("{{ [0] * 999999999999 }}");
  check_exhausts("{{ ('ab' * 1000) | replace('', 'x' * 100000) }}");
  check_exhausts("{{ 'a'.ljust(999999999999) }}");
  check_exhausts("{{ 'a' | center(999999999999) }}");
  check_exhausts("{{ '0'.zfill(999999999999) }}");
  check_exhausts("{{ (['x' * 100000] * 1000) | join }}");
  check_exhausts("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}");
  check_exhausts("{% macro m(f) %}{{ f(f) }}{% endmacro %}{{ m(m) }}");
  check_exhausts("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}");
  check_exhausts("{% for i in range(99999) %}{{ 'x' * 1000 }}{% endfor %}");
  check_exhausts("{{ range(100001) }}");
  check_exhausts("{{ [1, 2] | batch(999999999999, 0) | list }}");
  check_exhausts("{{ [1, 2] | slice(999999999999) | list }}");
  check_exhausts(
      "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] %}{% endfor "
      "%}{{ ns.l }}");
  check_exhausts("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}");
  check_exhausts(
      "{% set ns = namespace(d={}) %}{% for i in range(30) %}{% set ns.d = {'a': ns.d, 'b': ns.d} "
      "%}{% endfor %}{{ ns.d | tojson }}");
  check_exhausts(
      "{% set ns = namespace(d=[]) %}{% for i in range(30) %}{% set ns.d = [ns.d, ns.d] %}{% "
      "endfor %}{{ ns.d == ns.d + [] }}{{ ns.d | pprint }}");
  check_exhausts("{{ range(99999) | map('string') | map('center', 999) | join }}");
  check_exhausts(
      "{% set ns = namespace(s='') %}{% for i in range(99999) %}{% set ns.s = ns.s ~ "
      "'xxxxxxxxxxxxxxxx' %}{% endfor %}");
}

TEST_CASE("deep nesting in the source is refused, not followed") {
  const auto repeat = [](const std::string& what, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += what;
    return out;
  };
  for (const std::string& source :
       {"{{ " + repeat("(", 100000) + "1" + repeat(")", 100000) + " }}",
        "{{ " + repeat("[", 100000) + repeat("]", 100000) + " }}",
        "{{ " + repeat("not ", 100000) + "1 }}", "{{ " + repeat("-", 99999) + "1 }}",
        "{{ 1" + repeat(" + 1", 100000) + " }}", "{{ x" + repeat(".a", 100000) + " }}",
        "{{ x" + repeat("|upper", 100000) + " }}", "{{ " + repeat("1 if 1 else ", 100000) + "1 }}",
        "{{ f" + repeat("(f", 100000) + repeat(")", 100000) + " }}",
        repeat("{% if 1 %}", 100000) + repeat("{% endif %}", 100000),
        repeat("{% for x in y %}", 100000), "{{ x" + repeat(" if 1", 100000) + " }}",
        "{{ " + repeat("{1:", 100000)}) {
    const auto failure = failure_of(source, Json::object(), kSmall);
    CAPTURE(source.substr(0, 40));
    REQUIRE(failure.has_value());
    CHECK_MESSAGE(failure->code() == Code::kCorruptData, failure->message());
  }
}

TEST_CASE("the deepest evaluation that the limits allow fits the stack") {
  const auto failure = failure_of(
      "{% macro m(n) %}{% for i in [1] %}{% if true %}{% with a = 1 %}{% filter trim %}"
      "{{ ((([[m(n + 1)]] | map('first') | list) | join) ~ '') }}{% endfilter %}{% endwith %}{% "
      "endif %}{% endfor %}{% endmacro %}{{ m(0) }}");
  REQUIRE(failure.has_value());
  CHECK(failure->code() == Code::kResourceExhausted);
}

TEST_CASE("hostile numbers are refused") {
  for (const char* source :
       {"{{ '%999999999999d' % 1 }}", "{{ '{:999999999999}'.format(1) }}",
        "{{ '%.999999999f' % 1.5 }}", "{{ 2 ** 64 }}", "{{ 'x' | indent(999999999) }}",
        "{{ 1 | tojson(indent=999999999) }}", "{{ strftime_now('%9999999d') }}",
        "{{ range(9223372036854775807, 9223372036854775806, -9223372036854775807) }}",
        "{{ -9223372036854775807 - 2 }}", "{{ (-9223372036854775807 - 1) // -1 }}",
        "{{ 99999999999999999999 }}", "{{ '99999999999999999999' | int }}", "{{ 1e300 | int }}",
        "{{ 10.0 ** 400 }}"}) {
    CAPTURE(source);
    CHECK(failure_of(source).has_value());
  }
  CHECK_FALSE(failure_of("{{ (-9223372036854775807 - 1) % -1 }}{{ "
                         "'abc'[9223372036854775807:-9223372036854775807:-9223372036854775807] }}")
                  .has_value());
}

TEST_CASE("a long honest conversation stays far below the limits") {
  Json messages = Json::array();
  for (int i = 0; i < 2000; ++i) {
    messages.push_back(Json::object(
        {{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", std::string(1000, 'x')}}));
  }
  const Json context = Json::object({{"messages", std::move(messages)}});
  const std::string out = test_support::render(
      "{% set ns = namespace(last='') %}{% for m in messages %}{% if m['content'] is string %}{% "
      "set content = m.content | trim %}"
      "{{ '<|im_start|>' + m.role + '\\n' + content + '<|im_end|>\\n' }}{% endif %}{% set ns.last "
      "= content %}{% endfor %}",
      context);
  CHECK(out.size() > 2'000'000);
}

}  // namespace
}  // namespace hearth::jinja
