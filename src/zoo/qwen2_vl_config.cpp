// transformers: models/qwen2_vl/{configuration,processing}_qwen2_vl.py (5.17.0)
#include "zoo/qwen2_vl_config.h"

#include "base/error.h"
#include "nn/mrope.h"
#include "zoo/causal_lm.h"
#include "zoo/images.h"

namespace tidemark {
namespace {

struct TextConfig {
  std::int64_t vocab_size = 152064, hidden_size = 8192, intermediate_size = 29568, num_hidden_layers = 80;
  std::int64_t num_attention_heads = 64;
  std::optional<std::int64_t> num_key_value_heads = 8;
  std::optional<std::vector<std::string>> layer_types;
  std::string hidden_act = "silu";
  std::optional<bool> use_sliding_window;
  bool tie_word_embeddings = false;
  double attention_dropout = 0;
  Value rope_parameters, rope_scaling;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("vocab_size", c.vocab_size, kSize);
    visit("hidden_size", c.hidden_size, kSize);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("num_key_value_heads", c.num_key_value_heads, kSize);
    visit("layer_types", c.layer_types, kAny);
    visit("hidden_act", c.hidden_act, kAny);
    visit("use_sliding_window", c.use_sliding_window, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("rope_parameters", c.rope_parameters, kAny);
    visit("rope_scaling", c.rope_scaling, kAny);
  }
  static KeyNames harmless() {
    return {"max_position_embeddings", "rms_norm_eps",       "rope_theta",     "sliding_window",
            "max_window_layers",       "image_token_id",     "video_token_id", "vision_token_id",
            "vision_start_token_id",   "vision_end_token_id"};
  }
};

/// Files on the hub hold the text model's keys beside `vision_config`.
struct Qwen2VlConfig : TextConfig {
  Value text_config;
  Qwen2VlVisionConfig vision_config;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    TextConfig::fields(c, visit);
    visit("text_config", c.text_config, kAny);
    visit("vision_config", c.vision_config, kAny);
  }
};

Decoder decoder_of(const TextConfig& c) {
  return {.vocab_size = c.vocab_size,
          .hidden_size = c.hidden_size,
          .intermediate_size = c.intermediate_size,
          .num_hidden_layers = c.num_hidden_layers,
          .num_attention_heads = c.num_attention_heads,
          .num_key_value_heads = c.num_key_value_heads.value_or(c.num_attention_heads),
          .head_dim = c.hidden_size / c.num_attention_heads,
          .qkv_bias = true,
          .projects_first = true,
          .hidden_act = c.hidden_act,
          .attention_dropout = c.attention_dropout};
}

/// "mrope" of older files is "default".
Dims mrope_section_of(const TextConfig& c) {
  const Value& rope = c.rope_scaling.is_null() ? c.rope_parameters : c.rope_scaling;
  for (const char* key : {"rope_type", "type"})
    if (const Value* type = rope.find(key); type && type->as_text())
      refuse(*type->as_text() != "default" && *type->as_text() != "mrope", key, *type->as_text());
  const Value* sections = rope.find("mrope_section");
  if (!sections || !sections->as_list()) return {16, 24, 24};
  refuse(sections->as_list()->size() > Dims::kMost, "mrope_section", "so many parts");
  Dims dims;
  for (const Value& section : *sections->as_list())
    dims.push_back(to_integer(section, {"config.json", "mrope_section"}));
  return dims;
}

void check(bool holds, const char* what, const char* key) {
  if (!holds) throw Error(Errc::bad_value, what, std::string("config.json: ") + key);
}

void check_sizes(const Qwen2Vl& model) {
  const Decoder& text = model.decoder;
  const Qwen2VlVisionConfig& vision = model.vision;
  std::int64_t half = 0;
  for (const std::int64_t section : model.mrope_section) half += section;
  check(text.hidden_size % text.num_attention_heads == 0, "the heads do not share it evenly", "hidden_size");
  check(half * 2 == text.head_dim, "the sections are not half a head", "mrope_section");
  check(vision.embed_dim % (4 * vision.num_heads) == 0, "a head is not a multiple of four", "vision_config.embed_dim");
  check(vision.hidden_size == text.hidden_size, "images and words do not have the same size",
        "vision_config.hidden_size");
}

}  // namespace

Qwen2Vl read_qwen2_vl(const Value& config, const Context& context) {
  const auto c = read_config<Qwen2VlConfig>(config);
  const auto text = c.text_config.is_null() ? TextConfig(c) : read_config<TextConfig>(c.text_config);
  refuse(text.use_sliding_window.value_or(false), "use_sliding_window", "true");
  for (const std::string& type : text.layer_types.value_or(std::vector<std::string>()))
    refuse(type != "full_attention", "layer_types", type);
  if (const Value* type = c.vision_config.rope_parameters.find("rope_type"); type && type->as_text())
    refuse(*type->as_text() != "axial", "rope_type", *type->as_text());
  Qwen2Vl model{.decoder = decoder_of(text),
                .vision = c.vision_config,
                .mrope_section = mrope_section_of(text),
                .context = context,
                .language_context = context,
                .tie_word_embeddings = c.tie_word_embeddings || text.tie_word_embeddings};
  model.language_context.layers_before += model.vision.depth;
  check_sizes(model);
  return model;
}

BatchSizes qwen2_vl_batch(const Qwen2Vl& model, const Data& data) {
  const BatchSizes text = text_batch(data, 2048);
  if (data.images == 0) return text;
  if (model.context.padding) throw Error(Errc::unsupported, "padding beside images is not simulated", "padding");
  const Dims grid = image_grid(model.vision, data.image_height, data.image_width);
  const std::int64_t images = data.batch * data.images;
  BatchSizes sizes = with_images(text, data, model.tokens(grid),
                                 {images * grid[0] * grid[1] * grid[2], model.vision.patch_elements()});
  if (ImageTokens{data.images, model.tokens(grid)}.length() > (*sizes.input_ids)[1])
    throw Error(Errc::bad_value, "no room for the tokens that open and close images", "seq");
  sizes.image_grid_thw = Dims{images, 3};
  sizes.mm_token_type_ids = sizes.input_ids;
  sizes.grid = grid;
  return sizes;
}

}  // namespace tidemark
