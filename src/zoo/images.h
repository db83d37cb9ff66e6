// What models that see images share: sizes of their batches, and where images stand among the tokens.
#pragma once
#include "nn/model.h"

namespace tidemark {

/// Text with `tokens` placeholders per image.  Throws Error{bad_value} when they do not fit in, or when the number of
/// tokens that the data states is not what the model makes of an image.
BatchSizes with_images(BatchSizes text, const Data& data, std::int64_t tokens, const Dims& pixel_values);

/// transformers.utils.torch_compilable_check: the program reads whether the condition holds.
void torch_compilable_check(const Tensor& condition);

}  // namespace tidemark
