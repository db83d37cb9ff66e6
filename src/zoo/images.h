// What models that see images share: sizes of their batches, and where images stand among the tokens.
#pragma once
#include "base/value.h"
#include "nn/model.h"

namespace tidemark {

/// Square images, as a processor that resizes or crops every image to one size makes them.
Dims image_sizes(std::int64_t images, std::int64_t channels, std::int64_t side);
/// Images with one label each.
BatchSizes image_batch(const Data& data, std::int64_t channels, std::int64_t side);
/// Text with `tokens` placeholders per image.  Throws Error{bad_value} when they do not fit in, or when the number of
/// tokens that the data states is not what the model makes of an image.
BatchSizes with_images(BatchSizes text, const Data& data, std::int64_t tokens, const Dims& pixel_values);

/// `vision_feature_layer`, one or several: which of a vision tower's hidden states are taken, by their place among its
/// input and the outputs of its layers.
std::vector<std::size_t> feature_layers(const Value& vision_feature_layer, std::int64_t num_hidden_layers);

/// transformers.utils.torch_compilable_check: the program reads whether the condition holds.
void torch_compilable_check(const Tensor& condition);

/// input_ids == image_token_id, and the check that their number is right: get_placeholder_mask of LLaVA and after it.
Tensor placeholder_mask(Tensor input_ids);

}  // namespace tidemark
