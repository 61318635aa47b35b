// Constructors of the llama file's families, for the registry.
#pragma once

#include <memory>

#include "models/model.h"

namespace hearth {

class Checkpoint;

// Load every weight, then audit the checkpoint's names. Throw kCorruptData naming the key or the tensors.
std::unique_ptr<Model> make_llama(Checkpoint& checkpoint);
std::unique_ptr<Model> make_qwen2(Checkpoint& checkpoint);
std::unique_ptr<Model> make_qwen3(Checkpoint& checkpoint);

}  // namespace hearth
