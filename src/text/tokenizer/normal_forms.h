// Unicode normalization forms (UAX 15, Unicode 15), in time linear in the text but for sorting runs of marks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::text {

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };

// `text` must be well-formed UTF-8, here and below. True only if normalizing would change nothing; may be false then, too.
bool is_surely_normal(std::string_view text, NormalForm form);

std::string to_normal_form(std::string_view text, NormalForm form);

}  // namespace hearth::text
