// The vision tower of Qwen2-VL: patches of images of any size in one long row, attention within each image.
#pragma once
#include "nn/context.h"
#include "nn/vit.h"
#include "zoo/hf_config.h"
#include "zoo/model.h"

namespace tidemark {

struct Qwen2VlVisionConfig {
  std::int64_t depth = 32, embed_dim = 1280, hidden_size = 3584, num_heads = 16, in_channels = 3;
  std::int64_t mlp_ratio = 4, patch_size = 14, spatial_merge_size = 2, temporal_patch_size = 2;
  std::string hidden_act = "quick_gelu";
  Value rope_parameters;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("depth", c.depth, kLayers);
    visit("embed_dim", c.embed_dim, kSize);
    visit("hidden_size", c.hidden_size, kSize);
    visit("num_heads", c.num_heads, kSize);
    visit("num_attention_heads", c.num_heads, kSize);
    visit("in_channels", c.in_channels, kSize);
    visit("mlp_ratio", c.mlp_ratio, kSize);
    visit("patch_size", c.patch_size, kSize);
    visit("spatial_merge_size", c.spatial_merge_size, kSize);
    visit("temporal_patch_size", c.temporal_patch_size, kSize);
    visit("hidden_act", c.hidden_act, kAny);
    visit("rope_parameters", c.rope_parameters, kAny);
  }

  std::int64_t head_dim() const { return embed_dim / num_heads; }
  /// Of the patches that become one token.
  std::int64_t merged_features() const { return elements_of({embed_dim, spatial_merge_size, spatial_merge_size}); }
  /// Numbers in a row of pixel_values.
  std::int64_t patch_elements() const {
    return elements_of({in_channels, temporal_patch_size, patch_size, patch_size});
  }
};

/// Of the largest square that the processor does not make smaller.
std::int64_t usual_image_side(const Qwen2VlVisionConfig& config);
/// Frames, rows and columns of patches of one image of that size.  Throws Error{bad_value} for a size that the
/// processor does not take.
Dims image_grid(const Qwen2VlVisionConfig& config, std::int64_t height, std::int64_t width);

void add_qwen2_vl_vision(Module& visual, const Qwen2VlVisionConfig& config);
/// Qwen2VisionTransformerPretrainedModel.forward: pixel_values (patches, numbers), grid_thw (images, 3), the host's
/// `grid`
VisionOutputs qwen2_vl_vision(Module& visual, const Qwen2VlVisionConfig& config, const Context& context,
                              Tensor pixel_values, const Tensor& grid_thw, const Dims& grid);

}  // namespace tidemark
