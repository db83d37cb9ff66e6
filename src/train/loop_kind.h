#pragma once

namespace tidemark {

/// Whose loop it is: a script's, or that of transformers' Trainer over accelerate.
enum class LoopKind { plain, trainer };

}  // namespace tidemark
