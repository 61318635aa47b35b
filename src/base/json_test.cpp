#include "base/json.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"

namespace hearth {
namespace {

TEST_CASE("json: values, order and repeated keys survive a round trip") {
  const std::string text = R"({"b":[1,-2,3.5,true,null,"x\u00e9\n"],"a":{"deep":{}},"b2":[]})";
  const Json j = Json::parse(text);
  CHECK(j.dump() == "{\"b\":[1,-2,3.5,true,null,\"x\xC3\xA9\\n\"],\"a\":{\"deep\":{}},\"b2\":[]}");
  CHECK(Json::parse(j.dump()) == j);
  CHECK(Json::parse(R"({"k":1,"other":2,"k":3})").dump() == R"({"k":3,"other":2})");
}

TEST_CASE("json: objects with many members find each of them") {
  Json j = Json::object();
  for (int i = 0; i < 1000; ++i) j.set("key" + std::to_string(i), i);
  for (int i = 0; i < 1000; ++i) CHECK(j.at("key" + std::to_string(i)).as_int() == i);
  CHECK(j.find("key1000") == nullptr);
  CHECK(j.as_object().erase("key500"));
  CHECK(j.find("key500") == nullptr);
  CHECK(j.at("key999").as_int() == 999);
}

TEST_CASE("json: every finite double is read back exactly") {
  SplitMix64 random(9);
  for (int i = 0; i < 20000; ++i) {
    const double d = std::bit_cast<double>(random.next());
    if (!std::isfinite(d)) continue;
    CHECK(Json::parse(format_double(d)).as_double() == d);
  }
  // Decimals that Boost 1.81 alone rounds to a neighbour are among these.
  CHECK(Json::parse("0.1").as_double() == 0.1);
  CHECK(Json::parse("2.2250738585072011e-308").as_double() == 2.2250738585072011e-308);
}

TEST_CASE("json: doubles are written as Python's repr does") {
  CHECK(format_double(1.0) == "1.0");
  CHECK(format_double(0.0001) == "0.0001");
  CHECK(format_double(1e-5) == "1e-05");
  CHECK(format_double(1e15) == "1000000000000000.0");
  CHECK(format_double(1e16) == "1e+16");
  CHECK(format_double(-0.0) == "-0.0");
  CHECK(format_double(1.2345678901234567e30) == "1.2345678901234567e+30");
  CHECK(format_double(std::numeric_limits<double>::infinity()) == "Infinity");
}

TEST_CASE("json: large integers and non-finite numbers") {
  CHECK(Json::parse("9223372036854775807").as_int() == INT64_MAX);
  CHECK(Json::parse("9223372036854775808").is_double());
  CHECK_THROWS_AS(Json::parse("NaN"), Error);
  CHECK(std::isinf(Json::parse("[Infinity]", {.allow_nonfinite = true})[0].as_double()));
  CHECK(std::isinf(Json::parse("[-Infinity]", {.allow_nonfinite = true})[0].as_double()));
  CHECK(Json::parse(R"(["NaN", "Infinity"])", {.allow_nonfinite = true})[1].as_string() ==
        "Infinity");
}

TEST_CASE("json: faults name line and column") {
  CHECK_THROWS_WITH_AS(Json::parse("{\n  \"a\": ?}"), doctest::Contains("line 2, column 8"), Error);
  CHECK_THROWS_WITH_AS(Json::parse("{} x"), doctest::Contains("line 1"), Error);
  CHECK_THROWS_AS(Json::parse(""), Error);
  CHECK_THROWS_AS(Json::parse("[1,]"), Error);
  CHECK_THROWS_AS(Json::parse("\"\xFF\""), Error);
}

TEST_CASE("json: 100,000 levels are refused, not recursed into") {
  CHECK_THROWS_AS(Json::parse(std::string(100000, '[')), Error);
  CHECK_THROWS_AS(Json::parse(std::string(100000, '[') + std::string(100000, ']')), Error);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK_THROWS_AS(Json::parse(objects), Error);
  CHECK_NOTHROW(Json::parse(std::string(150, '[') + std::string(150, ']')));
}

TEST_CASE("json: accessors name the key and what was expected") {
  const Json j = Json::parse(R"({"n": 5, "s": "x", "f": 2.5, "z": null})");
  CHECK(j.require_int("n", {.min = 1}) == 5);
  CHECK_THROWS_WITH_AS(j.require_int("n", {.min = 6}), doctest::Contains("\"n\": 5 is too small"),
                       Error);
  CHECK_THROWS_WITH_AS(j.require_int("s"),
                       doctest::Contains("\"s\": expected an integer, found string"), Error);
  CHECK_THROWS_WITH_AS(j.require_int("f"), doctest::Contains("2.5"), Error);
  CHECK_THROWS_WITH_AS(j.require_int("absent"), doctest::Contains("\"absent\" is missing"), Error);
  CHECK(j.get_int("z", 7) == 7);
  CHECK(j.get_float("n", 0.0F) == 5.0F);
}

TEST_CASE("json: text that is not UTF-8 is written as replacement characters") {
  std::string out;
  append_json_string(out, "a\xFF\xC3(\xED\xA0\x80\x01", false);
  CHECK(out == "\"a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\\u0001\"");
  out.clear();
  append_json_string(out, "\xF0\x9F\x98\x80", true);
  CHECK(out == "\"\\ud83d\\ude00\"");
}

}  // namespace
}  // namespace hearth
