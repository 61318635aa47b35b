#include <string>

#include <doctest/doctest.h>

#include "support/templates.h"

namespace hearth::jinja {
namespace {

using test_support::failure_of;
using test_support::render;

struct Case {
  const char* source;
  const char* expected;
};

void check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    CAPTURE(c.source);
    std::string got;
    try {
      got = render(c.source);
    } catch (const Error& error) {
      got = "Error: " + error.message();
    }
    CHECK(got == std::string(c.expected));
  }
}

TEST_CASE("whitespace control follows trim_blocks, lstrip_blocks, '-' and '+'") {
  check({{"a\n  {% if 1 %}\nb\n  {% endif %}\nc\n", "a\nb\nc"},
         {"a\n  {%+ if 1 %}\nb{% endif %}", "a\n  b"},
         {"a  {% if 1 %}b{% endif %}", "a  b"},
         {"a \n {%- if 1 -%} \n b {%- endif %} c", "ab c"},
         {"{% if 1 +%}\nb{% endif %}", "\nb"},
         {"a {{- ' ' -}} b", "a b"},
         {"x\n  {# note #}\ny", "x\ny"},
         {"x {#- note -#} y", "xy"},
         {"one\r\ntwo\rthree\n", "one\ntwo\nthree"},
         {"{% raw %}{{ x }} {% y %}{% endraw %}!", "{{ x }} {% y %}!"},
         {"{%- raw -%} {{ x }} {%- endraw -%} !", "{{ x }}!"},
         {"  {{ 1 }}", "  1"}});
}

TEST_CASE("loops know their place") {
  check({{"{% for x in [1,2,3] %}{{ loop.index }}/{{ loop.length }}{{ loop.first }}{{ loop.last }} "
          "{% endfor %}",
          "1/3TrueFalse 2/3FalseFalse 3/3FalseTrue "},
         {"{% for x in 'ab' %}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.cycle('x','y') }}{% "
          "endfor %}",
          "21x10y"},
         {"{% for x in [1,1,2] %}{% if loop.changed(x) %}{{ x }}{% endif %}{% endfor %}", "12"},
         {"{% for x in [1,2,3] %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}",
          "<1>2;1<2>3;2<3>;"},
         {"{% for x in [1,2,3,4] if x is even %}{{ loop.index }}:{{ x }} {% endfor %}", "1:2 2:4 "},
         {"{% for x in [] %}{{ x }}{% else %}none{% endfor %}", "none"},
         {"{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}", "a1b2"},
         {"{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "123"},
         {"{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break "
          "%}{% endif %}{{ i }}{% endfor %}",
          "02"},
         {"{% for n in [{'c': [{'c': []}]}] recursive %}<{{ loop.depth }}{{ loop(n.c) }}>{% endfor "
          "%}",
          "<1<2>>"},
         {"{% for x in [1,2]|select('odd') %}{{ loop.length }}{% endfor %}", "1"},
         {"{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}", "1"},
         {"{% for i in [1,2] %}{{ y }}{% set y = i %}{% endfor %}", ""}});
}

TEST_CASE("macros take defaults, varargs, kwargs and callers") {
  check({{"{% macro m(a, b=a ~ '!') %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=2) }}",
          "11!12"},
         {"{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
          "(1, 2){'x': 3}"},
         {"{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m() }}", "False"},
         {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
          "Error: t:1:35: macro 'm' takes not more than 1 argument(s)"},
         {"{% macro m(a) %}{% endmacro %}{{ m(c=2) }}",
          "Error: t:1:35: macro 'm' takes no keyword argument 'c'"},
         {"{% macro box(t) %}[{{ t }}:{{ caller(2) }}]{% endmacro %}{% call(n) box('x') %}n={{ n "
          "}}{% endcall %}",
          "[x:n=2]"},
         {"{% macro m() %}{{ x }}{% endmacro %}{% set x = 5 %}{{ m() }}", "5"},
         {"{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
          "3210"},
         {"{% for i in [1,2] %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}", "12"}});
}

TEST_CASE("set, with, filter blocks and namespaces keep to their scopes") {
  check({{"{% set a, b = 1, 2 %}{{ a }}{{ b }}", "12"},
         {"{% set x | upper | trim %} hi {% endset %}{{ x }}", "HI"},
         {"{% set ns = namespace(n=0) %}{% for i in [1,2,3] %}{% set ns.n = ns.n + i %}{% endfor "
          "%}{{ ns.n }}",
          "6"},
         {"{% set x = 1 %}{% set x.y = 2 %}",
          "Error: t:1:23: cannot assign attribute on non-namespace object"},
         {"{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a is defined }}", "3False"},
         {"{% filter upper %}a{{ 'b' }}{% endfilter %}", "AB"},
         {"{% if true %}{% set x = 1 %}{% endif %}{{ x }}", "1"},
         {"{% generation %}{{ 1 }}{% endgeneration %}{% do [].copy() %}", "1"},
         {"{% set j = joiner('; ') %}{% for i in [1,2] %}{{ j() }}{{ i }}{% endfor %}", "1; 2"},
         {"{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}",
          "abab"}});
}

TEST_CASE("operators follow Python") {
  check({{"{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }}",
          "3 -4 2 3.5 1024 0.5"},
         {"{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 'a' in 'cat' }} {{ 1 not in [2] }}",
          "True False True True"},
         {"{{ [1, 2] + [3] }} {{ (1,) + (2,) }} {{ 'ab' * 2 }} {{ [0] * 3 }}",
          "[1, 2, 3] (1, 2) abab [0, 0, 0]"},
         {"{{ 'a' ~ 1 ~ none ~ missing }}", "a1None"},
         {"{{ 'abcdef'[1:4] }} {{ 'abc'[::-1] }} {{ [1,2,3,4][::2] }} {{ 'abc'[-1] }}",
          "bcd cba [1, 3] c"},
         {"{{ '\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E'[1] }}", "\xE6\x9C\xAC"},
         {"{{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' == 1 }} {{ [1] == [1.0] }} {{ {} == {} }}",
          "True True False True True"},
         {"{{ 1 if false }}|{{ 0 or 'x' }}|{{ '' and 1 }}|{{ not [] }}", "|x||True"},
         {"{{ 1e16 }} {{ 1e15 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1.0 }} {{ 1_000 }} {{ 0x1f }}",
          "1e+16 1000000000000000.0 0.0001 1e-05 1.0 1000 31"},
         {"{{ 1 + 'a' }}", "Error: t:1:6: unsupported operand type(s) for +: 'int' and 'str'"},
         {"{{ 9223372036854775807 + 1 }}", "Error: t:1:24: integer does not fit 64 bits"},
         {"{{ 1 // 0 }}", "Error: t:1:6: division by zero"}});
}

TEST_CASE("values print as Python prints them") {
  check({{"{{ [true, none, 1.5, 'a', \"it's\", ('x',), {'k': [1]}] }}",
          "[True, None, 1.5, 'a', \"it's\", ('x',), {'k': [1]}]"},
         {"{{ ['a\\n\\t\\\\', '\\x00', '\xC3\xA9'] }}", "['a\\n\\t\\\\', '\\x00', '\xC3\xA9']"},
         {"{{ {'a': 1}.items() }} {{ range(3) }} {{ [missing] }}",
          "dict_items([('a', 1)]) range(0, 3) [Undefined]"},
         {"{{ {'a': [1, 2.0, none], 'b': {}}|tojson }}", "{\"a\": [1, 2.0, null], \"b\": {}}"},
         {"{{ {'b': 1, 'a': '<\xC3\xA9>'}|tojson(indent=1, sort_keys=true) }}",
          "{\n \"a\": \"<\xC3\xA9>\",\n \"b\": 1\n}"},
         {"{{ '\xC3\xA9'|tojson(ensure_ascii=true) }} {{ [1,2]|tojson(separators=(',', ':')) }}",
          "\"\\u00e9\" [1,2]"},
         {"{{ '%05.1f|%-4s|%x|%r' % (2.25, 'a', 255, 'q') }}", "002.2|a   |ff|'q'"},
         {"{{ '{:>5}|{0}|{a!r}'.format(1, a='b') }}",
          "Error: t:1:28: cannot mix automatic and manual field numbering"},
         {"{{ '{:>5}|{a!r}|{:,}'.format(1, 12345, a='b') }}", "    1|'b'|12,345"},
         {"{{ strftime_now('%d %b %Y') }}", "15 Jan 2026"}});
}

TEST_CASE("undefined values print nothing, test false and fail when used") {
  check({{"{{ x }}{{ x is defined }}{{ x|default('d') }}{{ x|length }}{% for i in x %}{% endfor %}",
          "Falsed0"},
         {"{{ x.y }}", "Error: t:1:5: 'x' is undefined"},
         {"{{ {}.a.b }}", "Error: t:1:8: 'dict object' has no attribute 'a'"},
         {"{{ x() }}", "Error: t:1:5: 'x' is undefined"},
         {"{{ none.strip() }}", "Error: t:1:14: 'None' has no attribute 'strip'"},
         {"{{ [1][5] is undefined }}{{ {'a': 1}['b'] is defined }}", "TrueFalse"},
         {"{{ {'items': 1}.items is callable }}{{ {'items': 1}['items'] }}", "True1"}});
}

TEST_CASE("lists and dicts cannot be changed by templates") {
  check({{"{{ [].append(1) }}",
          "Error: t:1:13: access to attribute 'append' of 'list' object is unsafe."},
         {"{{ {}.update({}) }}",
          "Error: t:1:13: access to attribute 'update' of 'dict' object is unsafe."},
         {"{{ ''.__class__ }}|{{ ''.__class__.x }}",
          "Error: t:1:35: access to attribute '__class__' of 'str' object is unsafe."}});
}

TEST_CASE("generators are lazy, and walked once") {
  check({{"{% set g = [1,2]|map('string') %}{{ g|join }}{{ g|join }}.", "12."},
         {"{{ ([1, none]|map('upper')|first) }}", "1"},
         {"{{ ([1,2]|select('odd'))|length }}",
          "Error: t:1:26: object of type 'generator' has no len()"},
         {"{{ true if []|select else false }}", "True"},
         {"{{ [{'a': 1}, {}]|map(attribute='a', default=0)|list }}", "[1, 0]"}});
}

TEST_CASE("errors of syntax name line and column") {
  check({{"a\n{{ 1 + }}", "Error: t:2:8: expected an expression, got '}}'"},
         {"{% if x %}", "Error: t:1:11: 'if' is not closed: '{% endif %}' is missing"},
         {"{% for x in y %}{% endif %}",
          "Error: t:1:20: unknown tag 'endif'; the innermost open tag is 'for'"},
         {"\n\n {% include 'x' %}",
          "Error: t:3:5: '{% include %}' is not supported: a chat template must stand alone"},
         {"{{ 'abc }}", "Error: t:1:4: string is not closed"},
         {"{{ x", "Error: t:1:1: tag is not closed: '}}' is missing"},
         {"{# x", "Error: t:1:1: comment is not closed: '#}' is missing"},
         {"{% break %}", "Error: t:1:4: 'break' outside of a loop"},
         {"{{ [1, 2) }}", "Error: t:1:9: unexpected ')', expected ']'"},
         {"{{ 1|nope }}", "Error: t:1:6: no filter named 'nope'"},
         {"{{ a $ b }}", "Error: t:1:6: unexpected character '$'"}});
  CHECK(failure_of("{{ 1 + }}")->code() == Code::kCorruptData);
  CHECK(failure_of("{% extends 'x' %}")->code() == Code::kUnsupported);
  CHECK(failure_of("{{ raise_exception('no') }}")->message() == "t:1:19: no");
}

TEST_CASE("a break leaves the loop and a tool message ends the rendering") {
  const Json context = Json::parse(
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                                      {"role": "tool", "content": "c"}, {"role": "user", "content": "d"}]})");
  CHECK(render("{% for m in messages %}{% if m.role==\"tool\" %}{% break %}{% else %}{{ m.content "
               "}};{% endif %}{% endfor %}",
               context) == "a;b;");
  CHECK(render("{% for m in messages %}{% if m.role==\"tool\" %}{% continue %}{% endif %}{{ "
               "m.content }};{% endfor %}",
               context) == "a;b;d;");
}

}  // namespace
}  // namespace hearth::jinja
