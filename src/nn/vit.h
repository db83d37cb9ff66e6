// Encoders of images (and of captions): norm, attention over everything, norm, MLP with two layers.  Reads like
// transformers' models/{vit,clip,siglip}/modeling_*.py; those differ by names and by the order of registration.
#pragma once
#include <functional>

#include "nn/attention.h"
#include "nn/checkpoint.h"
#include "nn/layers.h"

namespace tidemark {

struct Encoder {
  std::int64_t hidden_size = 768, intermediate_size = 3072, num_hidden_layers = 12, num_attention_heads = 12;
  std::string hidden_act = "gelu";
  double attention_dropout = 0, hidden_dropout = 0;
  bool causal = false;
  bool projects_first = false;  // all three projections, and then their views
  // What the family calls a layer's parts.
  const char *attention = "self_attn", *output = "out_proj", *before = "layer_norm1", *after = "layer_norm2";
};

/// {q,k,v}_proj and the output projection, in the order of CLIP.
void add_encoder_attention(Module& layer, const Encoder& config);
/// activation_fn, fc1, fc2
void add_encoder_mlp(Module& layer, const Encoder& config);
Tensor encoder_mlp(Module& m, Tensor hidden_states);

/// Runs the layers; `hidden_states` gets the input and every layer's output, unless it is null.
Tensor run_encoder_layers(Module& layers, const Encoder& config, const Context& context, Tensor inputs_embeds,
                          Tensor attention_mask = {}, std::vector<Tensor>* hidden_states = nullptr);
/// CLIPEncoder.forward, of the module that has the layers.
Tensor encoder(Module& m, const Encoder& config, const Context& context, Tensor inputs_embeds,
               Tensor attention_mask = {}, std::vector<Tensor>* hidden_states = nullptr);

/// nn.Conv2d or Conv3d with a stride that equals its kernel.
Module& add_patch_convolution(Module& parent, std::string_view name, std::int64_t in, std::int64_t out,
                              const Dims& kernel, bool bias);

/// BaseModelOutputWithPooling
struct VisionOutputs {
  Tensor last_hidden_state, pooler_output;
  std::vector<Tensor> hidden_states;  // when asked for

  std::vector<Tensor*> tensors();
};

/// A vision model as a part of another one: what AutoModel makes of a vision_config.
struct VisionTower {
  std::int64_t hidden_size = 0, image_size = 0, patch_size = 0, num_channels = 3;
  std::int64_t class_tokens = 0;  // in front of the patches
  std::int64_t num_hidden_layers = 0;
  bool has_pooler = true;  // an embedding of the whole image
  std::function<void(Module&)> add;
  std::function<VisionOutputs(Module&, const Context&, Tensor pixel_values, bool output_hidden_states)> forward;

  std::int64_t patches() const { return (image_size / patch_size) * (image_size / patch_size); }
};

}  // namespace tidemark
