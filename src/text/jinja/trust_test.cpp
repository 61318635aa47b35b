// Whose text is whose: every operation keeps the origin of each byte, or calls the whole untrusted.
#include <string>

#include <doctest/doctest.h>

#include "support/templates.h"

namespace hearth::jinja {
namespace {

using test_support::marked;
using test_support::render_segments;

Json context() {
  return Json::parse(
      R"({"u": "us er", "v": "<v>", "n": 5, "l": ["x", "y"], "d": {"k": "w"}, "bos_token": "<s>"})");
}

std::string mark(const std::string& source) { return marked(render_segments(source, context())); }

TEST_CASE("text of the template and its tokens is trusted, text of the request is not") {
  CHECK(mark("a{{ u }}b{{ bos_token }}{{ 'lit' }}{{ n }}") == "a[us er]b<s>lit5");
  CHECK(mark("{{ '<|' + u + '|>' }}") == "<|[us er]|>");
  CHECK(mark("{{ u }}{{ v }}") == "[us er<v>]");
}

TEST_CASE("string operations follow each byte") {
  CHECK(mark("{{ ('a' ~ u ~ 'b') | upper }}") == "A[US ER]B");
  CHECK(mark("{{ ('  ' ~ u ~ '  ').strip() }}") == "[us er]");
  CHECK(mark("{{ (u ~ '!') | replace(' ', '_') }}") == "[us]_[er]!");
  CHECK(mark("{{ 'a-b' | replace('-', u) }}") == "a[us er]b");
  CHECK(mark("{{ ('ab' ~ u ~ 'cd')[1:-1] }}") == "b[us er]c");
  CHECK(mark("{{ ('ab' ~ v)[::-1] }}") == "[>v<]ba");
  CHECK(mark("{{ (u ~ ' z').split() | join('+') }}") == "[us]+[er]+z");
  CHECK(mark("{{ [u, 'q'] | join(v) }}") == "[us er<v>]q");
  CHECK(mark("{{ u | title }}{{ 'ab' | title }}") == "[Us Er]Ab");
  CHECK(mark("{{ 'x%sy' % u }}{{ 'x{}y'.format(u) }}") == "x[us er]yx[us er]y");
  CHECK(mark("{{ u.ljust(8, '.') }}|{{ u | center(7) }}|") == "[us er]...| [us er] |");
  CHECK(mark("{{ v | e }}{{ v * 2 }}") == "[&lt;v&gt;<v><v>]");
  CHECK(mark("{{ ('a\n' ~ u) | indent(2) }}") == "a\n  [us er]");
  CHECK(mark("{{ (u ~ 'tail').removesuffix('tail') }}{{ u.partition(' ')[2] }}") == "[us erer]");
  CHECK(mark("{{ (u ~ '/lit').split('/')[1] }}") == "lit");
  CHECK(mark("{% for c in u %}{{ c }}.{% endfor %}") == "[u].[s].[ ].[e].[r].");
  CHECK(mark("{{ (u ~ ' trusted words here') | truncate(12) }}") == "[us er]...");
}

TEST_CASE("values print with the origin of what is in them") {
  CHECK(mark("{{ d }}") == "{'[k]': '[w]'}");
  CHECK(mark("{{ d | tojson }}") == "{\"[k]\": \"[w]\"}");
  CHECK(mark("{{ [u, 'lit'] }}") == "['[us er]', 'lit']");
  CHECK(mark("{{ ['lit'] | tojson }}") == "[\"lit\"]");
  CHECK(mark("{{ {'a': v} | tojson }}") == "{\"a\": \"[<v>]\"}");
}

TEST_CASE("what can't be followed byte by byte is untrusted if any of it was") {
  CHECK(mark("{{ ('lit ' ~ u) | wordwrap(4) }}") == "[lit\nus\ner]");
  CHECK(mark("{{ ('lit ' ~ v ~ ' z') | striptags }}") == "[lit z]");
  CHECK(mark("{{ 'lit lit' | wordwrap(4) }}") == "lit\nlit");
  CHECK(mark("{{ [u] | pprint }}") == "[['us er']]");
}

TEST_CASE("origin goes through variables, blocks, macros and filters") {
  CHECK(mark("{% set x %}a{{ u }}{% endset %}{{ x }}b") == "a[us er]b");
  CHECK(mark("{% macro m(t) %}<{{ t }}>{% endmacro %}{{ m(u) }}{{ m('lit') }}") ==
        "<[us er]><lit>");
  CHECK(mark("{% filter upper %}a{{ u }}{% endfilter %}") == "A[US ER]");
  CHECK(mark("{% set ns = namespace(t='') %}{% for i in l %}{% set ns.t = ns.t + i + ',' %}{% "
             "endfor %}{{ ns.t }}") == "[x],[y],");
  CHECK(mark("{{ l | map('upper') | join('-') }}{{ l | first }}{{ l | sort | last }}") ==
        "[X]-[Yxy]");
  CHECK(mark("{{ u | default('lit') }}{{ missing | default('lit') }}{{ u if false else 'lit' }}") ==
        "[us er]litlit");
}

TEST_CASE("comparing does not look at origin") {
  CHECK(mark("{{ 'same' if u == 'us er' }}{{ 'in' if 'us' in u }}{{ {'us er': 'found'}[u] }}") ==
        "sameinfound");
}

TEST_CASE("words that templates build control tokens from are trusted by their key") {
  const Json messages = Json::parse(R"([{"role": "user", "type": "user"}, {"role": "im_start"}])");
  const auto parsed =
      Template::parse("{% for m in messages %}<|{{ m.role }}|>{{ m.type }}{% endfor %}", "t");
  const Variable variable{"messages", &messages, Trust::kRequest};
  Template::Settings settings;
  settings.trusted_word = [](std::string_view key, std::string_view text) {
    return key == "role" && text == "user";
  };
  CHECK(marked(parsed.render(std::span(&variable, 1), settings)) == "<|user|>[user]<|[im_start]|>");
}

TEST_CASE("characters keep their origin through changes of case and length") {
  const Json c = Json::parse(R"({"u": "ßΣ"})");
  CHECK(marked(render_segments("{{ ('ß' ~ u ~ 'ß') | upper }}", c)) == "SS[SSΣ]SS");
  CHECK(marked(render_segments("{{ ('é' ~ u ~ 'é')[1:3] }}", c)) == "[ßΣ]");
  CHECK(marked(render_segments("{{ ('Α' ~ u) | lower }}", c)) == "α[ßς]");
}

}  // namespace
}  // namespace hearth::jinja
