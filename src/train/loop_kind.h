#pragma once

namespace tidemark {

/// Whose loop it is: a script's, that of transformers' Trainer over accelerate, or of TRL's SFTTrainer, which is a
/// Trainer with a loss of its own.
enum class LoopKind { plain, trainer, sft_trainer };

}  // namespace tidemark
