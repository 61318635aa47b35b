// Template source to tree.
#pragma once

#include <string_view>

#include "text/jinja/ast.h"

namespace hearth::jinja {

// Throws kCorruptData with "line:column: what is wrong", and kUnsupported for `include`, `import`, `from` and `extends`:
// a chat template stands alone. Nesting is bounded, so that neither parsing nor running can exhaust the stack.
Ast parse(std::string_view source);

}  // namespace hearth::jinja
