// The text of a prompt with a note of where it came from.
#pragma once

#include <string>

namespace hearth {

// One run of prompt text.
//
// `trusted` text was written by the chat template (or is one of its special tokens): the spelling of a control token
// in it means that token. Untrusted text came from messages, tool results, names or tool definitions: the same
// spelling there is only characters. The joined texts of a prompt's segments are the whole prompt; a tokenizer may not
// let a segment border change how the text around it is split, except where control tokens are concerned.
struct PromptSegment {
  std::string text;
  bool trusted = false;

  friend bool operator==(const PromptSegment&, const PromptSegment&) = default;
};

}  // namespace hearth
