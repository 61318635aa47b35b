#include "cli/line_editor.h"

#include <doctest/doctest.h>

namespace hearth::cli {
namespace {

TEST_CASE("edit buffer: the cursor moves over whole characters") {
  EditBuffer b;
  b.insert("a\xC3\xA9\xF0\x9F\x98\x80z");  // a, e acute, an emoji, z
  b.left();
  b.left();
  CHECK(b.cursor() == 3);
  b.erase_before();
  CHECK(b.text() == "a\xF0\x9F\x98\x80z");
  b.erase_at();
  CHECK(b.text() == "az");
  b.right();
  b.right();
  CHECK(b.cursor() == 2);
  b.home();
  b.left();
  b.erase_before();
  CHECK(b.text() == "az");
}

TEST_CASE("edit buffer: words and line ends are cut as in a shell") {
  EditBuffer b;
  b.insert("one two  three");
  b.erase_word_before();
  CHECK(b.text() == "one two  ");
  b.erase_word_before();
  CHECK(b.text() == "one ");
  b.left();
  b.erase_to_start();
  CHECK(b.text() == " ");
  b.set("abc");
  b.left();
  b.erase_to_end();
  CHECK(b.text() == "ab");
}

}  // namespace
}  // namespace hearth::cli
