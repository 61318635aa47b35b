// The text work of decoder steps on single tokens.
#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer/decoder.h"

namespace hearth::text {

// The bytes of a byte-level token; its own bytes when a character stands for no byte.
std::string bytes_of_stand_ins(std::string_view token);
std::string replace_all(std::string_view text, std::string_view what, std::string_view with);
std::string replace_all(const ReplaceDecode& step, std::string_view token, RegexScratch& scratch);
// `token` without up to start and stop times `content` at its ends.
std::string_view strip_token(const StripDecode& step, std::string_view token);
std::string decode_metaspace(const MetaspaceDecode& step, std::string_view token, bool is_first);
std::string decode_word_piece(const WordPieceDecode& step, std::string_view token, bool is_first);
// Takes back the spaces that English tokenization put before punctuation and contractions.
std::string clean_up(std::string text);

}  // namespace hearth::text
