// Runs of one script, for the UnicodeScripts pre-tokenizer.
#pragma once

#include <string>

namespace hearth::text {

// A regular expression whose matches are runs of characters of one script, spaces within and after included. Hiragana,
// katakana and U+30FC count as Han, as in Hugging Face's library; spaces before the first run match nowhere.
std::string script_run_pattern();

}  // namespace hearth::text
