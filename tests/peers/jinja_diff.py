#!/usr/bin/env python3
"""Renders seeded random templates with Hearth and with Jinja2 and compares.

  tests/peers/jinja_diff.py PEER [--count 4000] [--seed 1] [--show 10]

PEER is the binary `jinja_peer` (tests/peers/jinja_peer.cpp). The reference is python3-jinja2 in the environment that
transformers makes for chat templates. Both must give the same text, or both must fail; what they say then may differ.
"""
import argparse
import copy
import datetime
import json
import random
import subprocess
import sys
import warnings

try:
    import jinja2
    from jinja2 import nodes
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError:
    print("jinja_diff: skipped, python3-jinja2 is not installed")
    sys.exit(0)

NOW = datetime.datetime(2026, 1, 15, 12, 34, 56)


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_keep"), [], [], body).set_lineno(line)

    def _keep(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, loopcontrols, "jinja2.ext.do"])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: NOW.strftime(f)
    return env


ENV = environment()
warnings.simplefilter("ignore")  # of the Python code that Jinja2 makes


def reference(template, context):
    try:
        return {"out": ENV.from_string(template).render(**copy.deepcopy(context))}
    except Exception as error:  # whatever a template can raise
        return {"error": f"{type(error).__name__}: {error}"[:200]}


STRINGS = ["", "a", "abc", "Hello World", "  padded\t", "a,b,,c", "x-y z", "\u00e9t\u00e9 STRASSE \u00df", "\u65e5\u672c\u8a9e \U0001f600",
           "it's", 'say "hi"', "line1\nline2\r\n\nline4", "<b>&amp;</b>", "12", "-3.5", " 7 ", "0x1f", "1_000", "%s|%d",
           "{} and {0}", "tab\tnew\\n", "AbC dEf", "\u01c6 \u0130I", "\u039f\u03a3 \u03c3\u03c2", "caf\u00e9.", "None", "a" * 90, "the quick-brown fox jumps over the lazy dog " * 3]
INTS = [0, 1, 2, 3, 5, 7, 10, -1, -2, 100, 12345678901]
FLOATS = [0.0, 1.0, 0.5, -2.5, 3.14159, 1e16, 1e-7, 123456.789, 1e300, 2.675]

CONTEXT = {
    "s": "Hello, W\u00f6rld!", "t": "  spaced out  ", "e": "", "n": 3, "m": -7, "f": 2.5, "g": -0.125, "yes": True, "no": False, "nil": None,
    "xs": [3, 1, 2, 3], "ys": ["b", "A", "c", "a"], "mix": [1, "x", None, True, 2.5, [1, 2], {"k": "v"}], "empty": [],
    "d": {"b": 1, "a": 2, "C": 3}, "deep": {"x": {"y": [{"z": "end"}, {"z": 5}]}, "items": "shadow", "keys": 9},
    "messages": [{"role": "system", "content": "Be <brief>."}, {"role": "user", "content": "Hi \u2615"},
                 {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": {"a": 1.5, "b": [True, None]}}]},
                 {"role": "tool", "content": "{\"ok\": true}"}],
}
NAMES = list(CONTEXT) + ["missing"]

FILTERS = [
    ("abs", []), ("attr", ["s"]), ("batch", ["i"]), ("batch", ["i", "e"]), ("capitalize", []), ("center", ["i"]), ("count", []),
    ("d", ["e"]), ("default", ["e", "b"]), ("dictsort", []), ("dictsort", ["b"]), ("e", []), ("escape", []), ("filesizeformat", []),
    ("first", []), ("float", []), ("float", ["e"]), ("forceescape", []), ("format", ["e"]), ("format", ["e", "e"]), ("groupby", ["s"]), ("indent", ["i"]),
    ("indent", ["i", "b", "b"]), ("int", []), ("int", ["e"]), ("items", []), ("join", []), ("join", ["s"]), ("last", []),
    ("length", []), ("list", []), ("lower", []), ("map", ["F"]), ("max", []), ("min", []), ("pprint", []), ("reject", ["T"]), ("rejectattr", ["s"]),
    ("replace", ["s", "s"]), ("replace", ["s", "s", "i"]), ("reverse", []), ("round", []), ("round", ["i"]), ("round", ["i", "'floor'"]),
    ("safe", []), ("select", []), ("select", ["T"]), ("selectattr", ["'role'"]), ("selectattr", ["'role'", "'equalto'", "s"]), ("slice", ["i"]),
    ("sort", []), ("sort", ["b"]), ("sort", ["b", "b"]), ("string", []), ("striptags", []), ("sum", []), ("title", []), ("tojson", []), ("tojson", ["b"]),
    ("trim", []), ("trim", ["s"]), ("truncate", ["i"]), ("truncate", ["i", "b"]), ("unique", []), ("upper", []), ("urlencode", []), ("wordcount", []),
    ("wordwrap", ["i"]), ("wordwrap", ["i", "b"]), ("xmlattr", []),
]
KWARG_FILTERS = ["tojson(indent=2)", "tojson(separators=(',', ':'))", "sort(attribute='role')", "map(attribute='role')", "join(', ', attribute='role')",
                 "map(attribute='content', default='-')", "sort(reverse=true)", "max(attribute='z')", "groupby('role')", "unique(attribute='role')",
                 "sum(attribute='n')", "dictsort(by='value')", "dictsort(reverse=true)", "default('x', boolean=true)", "indent(width=2, first=true)",
                 "truncate(9, end='~', leeway=0)", "tojson(sort_keys=true)", "int(base=16)", "map('upper')", "map('default', 'none')", "wordwrap(12, wrapstring='|')"]
TESTS = ["boolean", "callable", "defined", "divisibleby 2", "divisibleby(3)", "eq 3", "equalto 'a'", "escaped", "even", "false", "float", "ge 2", "gt 1",
         "in xs", "in 'abc'", "integer", "iterable", "le 2", "lower", "lt 3", "mapping", "ne 1", "none", "number", "odd", "sameas none", "sequence",
         "string", "true", "undefined", "upper", "filter", "test", "not none", "not string"]
METHODS = ["upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "strip('a ')", "lstrip()", "rstrip('!')", "split()", "split(',')",
           "split(none, 1)", "split('l', 1)", "rsplit(' ', 1)", "rsplit(none, 1)", "splitlines()", "splitlines(true)", "startswith('H')",
           "startswith(('a', 'H'))", "endswith('d!')", "replace('l', 'L')", "replace('l', 'L', 1)", "replace('', '-')", "find('o')", "rfind('o')",
           "find('l', 3)", "index('o')", "rindex('zz')", "count('l')", "count('')", "isdigit()", "isalpha()", "isalnum()", "isspace()", "isupper()", "islower()",
           "istitle()", "isnumeric()", "isdecimal()", "isidentifier()", "isprintable()", "isascii()", "zfill(8)", "ljust(9, '.')", "rjust(20)", "center(15, '*')",
           "partition(', ')", "rpartition('l')", "removeprefix('He')", "removesuffix('!')", "join(ys)", "format(1, 'b')", "expandtabs(4)", "encode()",
           "get('a')", "get('zz', 'dflt')", "items()", "keys()", "values()", "copy()", "append(1)", "update({})", "index(1)", "index('A')",
           "items()|list", "keys()|list|sort", "nothing()", "__class__", "items"]
PERCENT = ["'%s' % ", "'%5s|' % ", "'%-5s|' % ", "'%d' % ", "'%05.1f' % ", "'%x' % ", "'%r' % ", "'%e' % ", "'%g' % ", "'%+d' % ", "'%c' % ", "'%%' % "]
BRACES = ["'{}'", "'{0}-{0}'", "'{:>8}'", "'{:^9}'", "'{:08.2f}'", "'{:,}'", "'{:x}'", "'{!r}'", "'{:.3}'", "'{:e}'", "'{:+}'", "'{:%}'", "'{0[0]}'", "'{:*<6}'", "'{:d}'", "'{:g}'", "'{:#x}'"]


# What filters and methods take, so that most templates get past their first expression.
STRING_TO_STRING = ["|upper", "|lower", "|title", "|capitalize", "|trim", "|e", "|forceescape", "|safe", "|striptags", "|urlencode", "|reverse", "|string",
                    "|indent(3)", "|indent(2, true)", "|indent(width=1, first=true, blank=true)", "|center(11)", "|truncate(9)", "|truncate(9, true)",
                    "|truncate(7, end='~', leeway=0)", "|wordwrap(9)", "|wordwrap(7, false)", "|wordwrap(12, wrapstring='|')", "|replace('a', '[x]')", "|replace('l', 'L', 1)",
                    "|default('d')", "|d('', true)", "|tojson", "|tojson(true)", "|pprint", "|first", "|last", "|join('-')", "|list|join"] + \
    ["." + m for m in ("upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "strip('a ')", "lstrip()", "rstrip('!')", "replace('l', 'L')",
                       "replace('l', '', 1)", "replace('', '-')", "zfill(8)", "ljust(9, '.')", "rjust(20)", "center(15, '*')", "removeprefix('He')", "removesuffix('!')",
                       "join(ys)", "expandtabs(4)", "format(1, 'b')")] + ["[1:]", "[:-1]", "[::-1]", "[1:-1]", "[::2]", "[-3:]", "[0]", "[-2::-1]", "[:3]"]
STRING_TO_LIST = ["|list", ".split()", ".split(',')", ".split(none, 1)", ".split('l', 1)", ".rsplit(' ', 1)", ".rsplit(none, 1)", ".splitlines()", ".splitlines(true)",
                  ".partition(', ')", ".rpartition('l')", "|batch(2)|list", "|slice(3)|list", "|unique|list", "|sort", "|map('upper')|list"]
STRING_TO_INT = ["|length", "|count", "|wordcount", "|int", "|int(-1)", "|int(base=16)", "|float|int", ".find('o')", ".rfind('o')", ".find('l', 3)", ".count('l')", ".count('')"]
STRING_TO_BOOL = [f" is {t}" for t in ("upper", "lower", "string", "defined", "none", "number", "iterable", "sequence", "escaped", "in 'abc'", "eq 'abc'", "filter", "test")] + \
    ["." + m for m in ("startswith('H')", "startswith(('a', 'H'))", "endswith('d!')", "isdigit()", "isalpha()", "isalnum()", "isspace()", "isupper()", "islower()", "istitle()",
                       "isnumeric()", "isdecimal()", "isidentifier()", "isprintable()", "isascii()")]
LIST_TO_LIST = ["|list", "|reverse|list", "|unique|list", "|batch(2)|list", "|batch(3, 'x')|list", "|slice(2)|list", "|slice(3, 0)|list", "|select|list", "|reject('none')|list",
                "|map('string')|list", "|map('default', 'none')|list", "|select('string')|list", "|reject('string')|list", "|select('number')|list", "|map('length')|list", "|sort",
                "|sort(true)", "|sort(reverse=true, case_sensitive=true)", "|selectattr('role', 'defined')|list", "|map(attribute='role')|list", "|map(attribute='k', default='-')|list",
                "|rejectattr('role')|list", "|map('upper')|list", "|map('tojson')|list", "[1:]", "[::-1]", "[:2]", "[-2:]", " + [1]", " * 2", ".copy()"]
LIST_TO_STRING = ["|join", "|join(', ')", "|tojson", "|tojson(indent=2)", "|tojson(separators=(',', ':'))", "|string", "|pprint", "|join('; ', attribute='role')", "|map('string')|join('+')"]
LIST_TO_ANY = ["|first", "|last", "|length", "|sum", "|max", "|min", "|max(attribute='role')", "[0]", "[-1]", "[9]", "|groupby('role')", ".index(1)", ".count(3)", "|random", ".append(1)"]
DICT_TO_ANY = [".items()|list", ".keys()|list", ".values()|list", ".items()", ".get('a')", ".get('zz', 'dflt')", "|dictsort", "|dictsort(true)", "|dictsort(by='value')",
               "|dictsort(reverse=true)", "|items|list", "|length", "|tojson", "|tojson(sort_keys=true, indent=1)", "|list", "|string", "['a']", ".b", "|xmlattr", "|urlencode", ".nope",
               ".copy()", "|pprint", "|attr('a')", "|first", ".update({})", ".keys", "|sort", "|join"]
NUMBER_TO_NUMBER = ["|abs", "|int", "|float", "|round", "|round(1)", "|round(2, 'floor')", "|round(1, 'ceil')", "|round(-1)", " + 2", " - 0.5", " * 3", " / 4", " // 3", " % 5", " ** 2", "|default(3)"]
NUMBER_TO_ANY = ["|string", "|filesizeformat", "|filesizeformat(true)", " is odd", " is even", " is divisibleby 3", " is number", " is integer", " is float", " is boolean", " > 2", " == 3",
                 " != 1", " <= 7", "|tojson", " ~ 'x'", " in xs", " not in [1, 2.5]", " is ge 2", " is sameas 1", "|title", " < 5 < 9"]
SEQUENCES = ["xs", "ys", "mix", "empty", "messages", "[1, 2, 3]", "['q', 'Q', 'a b']", "(1, 2)", "[[2, 'b'], [1, 'a']]", "range(5)", "range(7, 0, -3)", "d.values()", "deep.x.y", "[none, none]"]
MAPPINGS = ["d", "deep", "messages[0]", "messages[2]", "{}", "{'k': [1, none], 'a': {'b': 2.0}}", "dict(a=1, b='<')", "deep.x", "{1: 'one', true: 'yes', none: 0}"]


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.locals = []

    def pick(self, items):
        return self.rng.choice(items)

    def literal_string(self):
        text = self.pick(STRINGS)
        quote = self.pick("'\"")
        out = "".join({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", quote: "\\" + quote}.get(c, c) for c in text)
        return quote + out + quote

    def number(self, depth=0):
        if depth > 0:
            return f"({self.number(depth - 1)})" + self.pick(NUMBER_TO_NUMBER) if self.rng.random() < 0.7 else f"({self.string(depth - 1)}){self.pick(STRING_TO_INT)}"
        if self.rng.random() < 0.4:
            return self.pick(["n", "m", "f", "g", "yes"])
        return str(self.pick(INTS)) if self.rng.random() < 0.6 else repr(self.pick(FLOATS))

    def string(self, depth):
        if depth <= 0:
            return self.literal_string() if self.rng.random() < 0.7 else self.pick(["s", "t", "e", "messages[0].content", "messages[1]['content']", "ys[0]", "missing"])
        kind = self.rng.randrange(8)
        if kind < 4:
            return f"({self.string(depth - 1)}){self.pick(STRING_TO_STRING)}"
        if kind == 4:
            return f"({self.string(depth - 1)} {self.pick(['+', '~'])} {self.string(depth - 1)})"
        if kind == 5:
            return f"({self.sequence(depth - 1)}){self.pick(LIST_TO_STRING)}"
        if kind == 6:
            pattern = self.pick(PERCENT)
            return f"({pattern}{self.string(depth - 1) if self.rng.random() < 0.2 or '%s' in pattern or '%r' in pattern or 's|' in pattern else self.number(0)})"
        pattern = self.pick(BRACES)
        return f"{pattern}.format({self.number(0) if any(c in pattern for c in '.,x+%dge') else self.string(depth - 1)})"

    def sequence(self, depth):
        if depth <= 0:
            return self.pick(SEQUENCES)
        if self.rng.random() < 0.3:
            return f"({self.string(depth - 1)}){self.pick(STRING_TO_LIST)}"
        return f"({self.sequence(depth - 1)}){self.pick(LIST_TO_LIST)}"

    def truth(self, depth):
        kind = self.rng.randrange(6)
        sub = lambda: self.expr(depth - 1)
        if kind == 0:
            return f"({self.string(depth - 1)}){self.pick(STRING_TO_BOOL)}"
        if kind == 1:
            return f"({sub()} {self.pick(['and', 'or'])} {sub()})"
        if kind == 2:
            return f"(not {sub()})"
        if kind == 3:
            return f"({sub()} {self.pick(['==', '!='])} {sub()})"
        if kind == 4:
            return f"({sub()} is {self.pick(TESTS)})"
        return f"({self.string(depth - 1)} {self.pick(['in', 'not in', '<', '>='])} {self.string(depth - 1)})"

    def expr(self, depth):
        if depth <= 0:
            return self.pick([self.literal_string(), self.number(0), self.pick(NAMES + self.locals * 3), self.pick(SEQUENCES), self.pick(MAPPINGS)])
        kind = self.rng.randrange(17)
        if kind < 4:
            return self.string(depth)
        if kind < 6:
            return self.sequence(depth)
        if kind < 8:
            return f"({self.sequence(depth - 1)}){self.pick(LIST_TO_ANY)}"
        if kind < 10:
            return f"({self.pick(MAPPINGS)}){self.pick(DICT_TO_ANY)}"
        if kind == 10:
            return self.number(depth)
        if kind == 11:
            return f"({self.number(depth - 1)}){self.pick(NUMBER_TO_ANY)}"
        if kind == 12:
            return self.truth(depth)
        if kind == 13:
            return f"({self.expr(depth - 1)} if {self.truth(depth - 1)}" + (f" else {self.expr(depth - 1)})" if self.rng.random() < 0.8 else ")")
        if kind == 14:
            return "[" + ", ".join(self.expr(depth - 1) for _ in range(self.rng.randrange(4))) + "]"
        if kind == 15:
            return "{" + ", ".join(f"{self.pick([self.literal_string(), '1', 'none', 'true'])}: {self.expr(depth - 1)}" for _ in range(self.rng.randrange(3))) + "}"
        return self.wild(depth)

    # Anything applied to anything: mostly errors.
    def wild(self, depth):
        base = f"({self.expr(depth - 1)})" if self.rng.random() < 0.5 else f"({self.pick(NAMES)})"
        kind = self.rng.randrange(5)
        if kind == 0:
            return base + self.pick(STRING_TO_STRING + STRING_TO_LIST + LIST_TO_LIST + LIST_TO_ANY + DICT_TO_ANY + NUMBER_TO_ANY)
        if kind == 1:
            return f"({self.expr(depth - 1)} {self.pick(['+', '-', '*', '/', '//', '%', '<', 'in'])} {self.expr(depth - 1)})"
        if kind == 2:
            return base + "." + self.pick(METHODS)
        if kind == 3:
            return base + "|" + self.pick(KWARG_FILTERS)
        name, args = self.pick(FILTERS)
        call = "(" + ", ".join(self.argument(a, depth) for a in args) + ")" if args else ""
        return f"{base}|{name}{call}"

    def argument(self, kind, depth):
        return {"e": lambda: self.expr(depth - 1), "s": self.literal_string,
                "i": lambda: str(self.pick([0, 1, 2, 3, 5, 12, 20, -1])), "b": lambda: self.pick(["true", "false"]),
                "F": lambda: "'" + self.pick(["upper", "length", "string", "int", "trim", "list"]) + "'",
                "T": lambda: "'" + self.pick(["odd", "string", "none", "defined", "number", "mapping"]) + "'"}.get(kind, lambda: kind)()

    def text(self):
        return self.pick(["", " ", "\n", "text", "  x\n", "\n\n", "\t", "<|im_start|>", "  \n  "])

    def open(self, tag):
        return "{%" + self.pick(["", "", "", "-", "+"]) + " " + tag + " " + self.pick(["", "", "", "-"]) + "%}"

    def statement(self, depth):
        kind = self.rng.randrange(14)
        if depth <= 0 or kind < 5:
            return "{{" + self.pick(["", "", "-"]) + " " + self.expr(self.rng.randrange(1, 4)) + " " + self.pick(["", "", "-"]) + "}}"
        body = lambda: self.body(depth - 1)
        if kind == 5:
            return self.open("if " + self.expr(2)) + body() + self.pick(["", self.open("elif " + self.expr(1)) + body(), ""]) + \
                self.pick(["", self.open("else") + body()]) + self.open("endif")
        if kind in (6, 7):
            return self.loop(depth)
        if kind == 8:
            name = self.pick(["v", "w"])
            self.locals.append(name)
            return self.open(f"set {name} = " + self.expr(2))
        if kind == 9:
            self.locals.append("v")
            return self.open("set v" + self.pick(["", " | upper", " | trim | length"])) + body() + self.open("endset")
        if kind == 10:
            return self.open("with q = " + self.expr(1) + ", v = 1") + body() + "{{ q }}" + self.open("endwith")
        if kind == 11:
            return self.open("filter " + self.pick(["upper", "trim", "replace('a', 'b')", "indent(2)", "title"])) + body() + self.open("endfilter")
        if kind == 12:
            macro = self.open("macro mac(a, b=" + self.expr(1) + ")") + "[{{ a }}|{{ b }}" + self.pick(["", "{{ varargs }}", "{{ kwargs }}", "{{ caller() if caller }}"]) + "]" + body() + self.open("endmacro")
            return macro + self.pick(["{{ mac(1) }}", "{{ mac('x', b=2) }}", "{{ mac() }}", "{{ mac(1, 2, 3) }}", "{{ mac(1, c=4) }}", "{% call mac(7) %}in{% endcall %}"])
        return self.pick(["{# note #}", "{#- note -#}", "{% raw %}{{ x }}{% endraw %}", "{%- raw -%} {% y %} {%- endraw +%}", self.open("generation") + body() + self.open("endgeneration"),
                          "{% set ns = namespace(c=0) %}{% for i in range(3) %}{% set ns.c = ns.c + i %}{% endfor %}{{ ns.c }}",
                          "{% do xs.append(1) %}", "{% break %}", "{{ loop.index }}", "{% if %}", "{{ 1 +", "{{ cycler('a', 'b').next() }}",
                          "{% set j = joiner('; ') %}{{ j() }}{{ j() }}", "{{ strftime_now('%d %b %Y') }}", "{{ raise_exception('no') }}"])

    def loop(self, depth):
        iterable = self.pick(["xs", "ys", "messages", "mix", "d", "d.items()", "range(n)", "empty", "missing", "s", "xs|select('odd')", "messages|selectattr('role')", self.expr(1)])
        target = self.pick(["i", "i", "i", "i, j"]) if "items" not in iterable else self.pick(["i, j", "i"])
        condition = self.pick(["", "", "", " if i", " if i is string", " if loop is defined"])
        extras = ["{{ loop.index }}", "{{ loop.index0 }}/{{ loop.length }}", "{{ loop.first }}{{ loop.last }}", "{{ loop.revindex }}", "{{ loop.cycle('o', 'e') }}",
                  "{{ loop.previtem }}>{{ loop.nextitem }}", "{% if loop.changed(i) %}*{% endif %}", "{{ loop.depth }}", "", "", "{% if loop.index > 1 %}{% break %}{% endif %}",
                  "{% if i == 1 %}{% continue %}{% endif %}", "{{ i }}"]
        saved = list(self.locals)
        self.locals += ["i", "i"]
        body = "{{ i }}" + self.pick(extras) + self.body(depth - 1) + self.pick(extras)
        self.locals = saved
        return self.open(f"for {target} in {iterable}{condition}") + body + self.pick(["", self.open("else") + "none" + self.text()]) + self.open("endfor")

    def body(self, depth):
        return self.text() + "".join(self.statement(depth) + self.text() for _ in range(self.rng.randrange(1, 3)))

    def template(self):
        self.locals = []
        return "".join(self.text() + self.statement(self.rng.randrange(3)) for _ in range(self.rng.randrange(1, 4))) + self.text()


def is_comparable(want):
    # Addresses of objects and Python's own limits can't be matched.
    # Methods of Markup (what `safe` and `escape` give) are those of plain strings here.
    text = want.get("out", "").lower()
    return " at 0x" not in text and "object" not in text and "markup(" not in text and "OverflowError" not in want.get("error", "") and "MemoryError" not in want.get("error", "")


def allowed(template, got):
    # Differences by design: integers stay within 64 bits, and widths and memory are bounded.
    # Jinja2 folds constants, and then 3[1:] is undefined instead of an error. Views of dicts are no sets here.
    error = got.get("error", "")
    return any(w in error for w in ("64 bits", "subscriptable by a slice", "'dict_", "too large", "not supported", "bytes of memory", "steps", "takes a width of at most", "indents by at most"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    templates = [Maker(rng).template() for _ in range(options.count)]
    lines = "".join(json.dumps({"template": t, "context": CONTEXT}) + "\n" for t in templates)
    run = subprocess.run([options.peer], input=lines, stdout=subprocess.PIPE, text=True, timeout=400)
    answers = run.stdout.splitlines()
    if run.returncode != 0 or len(answers) != len(templates):
        print(f"jinja_diff: the peer ended with {run.returncode} after {len(answers)} of {len(templates)} templates: {templates[min(len(answers), len(templates) - 1)]!r}")
        return 1
    same = skipped = errors = 0
    shown = []
    for template, line in zip(templates, answers):
        want, got = reference(template, CONTEXT), json.loads(line)
        if not is_comparable(want) or allowed(template, got):
            skipped += 1
        elif ("out" in want) == ("out" in got) and want.get("out") == got.get("out"):
            same += 1
            errors += "error" in want
        else:
            shown.append((template, want, got))
    for template, want, got in shown[:options.show]:
        print(f"differs: {template!r}\n  jinja2: {want}\n  hearth: {got}")
    print(f"jinja_diff: jinja2 {jinja2.__version__}, seed {options.seed}: {same} alike ({errors} of them errors), {skipped} not comparable, {len(shown)} differ")
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(main())
