// transformers: models/qwen2_vl/{configuration,processing}_qwen2_vl.py (5.17.0)
#include "zoo/qwen2_vl_config.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/mrope.h"
#include "zoo/causal_lm.h"
#include "zoo/images.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct Qwen2VlTextConfig : LateWindowsConfig {
  Qwen2VlTextConfig() {
    vocab_size = 152064, hidden_size = 8192, intermediate_size = 29568, num_hidden_layers = 80;
    num_attention_heads = 64, num_key_value_heads = 8, max_window_layers = 80;
  }
  static KeyNames harmless() {
    return {"rms_norm_eps",          "rope_theta",         "image_token_id", "video_token_id", "vision_token_id",
            "vision_start_token_id", "vision_end_token_id"};
  }
};

/// Files on the hub hold the text model's keys beside `vision_config`.
struct Qwen2VlConfig : Qwen2VlTextConfig {
  Value text_config;
  Qwen2VlVisionConfig vision_config;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    LateWindowsConfig::fields(c, visit);
    visit("text_config", c.text_config, kAny);
    visit("vision_config", c.vision_config, kAny);
  }
};

Decoder decoder_of(Qwen2VlTextConfig c) {
  refuse(c.head_dim && *c.head_dim != c.head_size(), "head_dim", "not hidden_size / num_attention_heads");
  c.rope.rename_type({"mrope"}, "default");
  Decoder decoder = c.decoder();
  refuse(decoder.rope.kind != RopeUpdate::Kind::none, "rope_type", "dynamic or longrope");
  refuse(decoder.sliding_window.has_value(), "use_sliding_window", "true");
  decoder.qkv_bias = decoder.projects_first = true;
  return decoder;
}

Dims mrope_section_of(const RopeConfig& c) {
  const Value& rope = c.rope_scaling.is_null() ? c.rope_parameters : c.rope_scaling;
  const Value* sections = rope.find("mrope_section");
  if (!sections || !sections->as_list()) return {16, 24, 24};
  refuse(sections->as_list()->size() > Dims::kMost, "mrope_section", "so many parts");
  Dims dims;
  for (const Value& section : *sections->as_list()) {
    const ValuePath path{"config.json", "mrope_section"};
    const std::int64_t size = to_integer(section, path);  // torch.split takes none below 0
    if (size < 0 || static_cast<double>(size) > kSize.high) fail_expected("the size of a part", section, path);
    dims.push_back(size);
  }
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
  check_decoder(text);
  check(half * 2 == text.head_dim, "the sections are not half a head", "mrope_section");
  check(vision.embed_dim % (4 * vision.num_heads) == 0, "a head is not a multiple of four", "vision_config.embed_dim");
  check(vision.hidden_size == text.hidden_size, "images and words do not have the same size",
        "vision_config.hidden_size");
}

}  // namespace

Qwen2Vl read_qwen2_vl(const Value& config, const Context& context) {
  const auto c = read_config<Qwen2VlConfig>(config);
  const auto text = c.text_config.is_null() ? Qwen2VlTextConfig(c) : read_config<Qwen2VlTextConfig>(c.text_config);
  if (const Value* type = c.vision_config.rope_parameters.find("rope_type"); type && type->as_text())
    refuse(*type->as_text() != "axial", "rope_type", *type->as_text());
  Qwen2Vl model{.decoder = decoder_of(text),
                .vision = c.vision_config,
                .mrope_section = mrope_section_of(text.rope),
                .context = context,
                .language_context = context};
  model.decoder.tie_word_embeddings = c.tie_word_embeddings || text.tie_word_embeddings;
  model.language_context.layers_before += model.vision.depth;
  check_sizes(model);
  return model;
}

BatchSizes qwen2_vl_batch(const Qwen2Vl& model, const Data& data) {
  const BatchSizes text = text_batch(data);
  if (data.images == 0) return text;
  if (model.context.padding) throw Error(Errc::unsupported, "padding beside images is not simulated", "padding");
  const std::int64_t side = usual_image_side(model.vision);
  const bool said = data.image_height > 0;
  const Dims grid =
      image_grid(model.vision, said ? data.image_height : side, said ? data.image_width : side);
  const std::int64_t images = data.batch * data.images;
  BatchSizes sizes = with_images(text, data, model.tokens(grid),
                                 {elements_of({images, grid[0], grid[1], grid[2]}), model.vision.patch_elements()});
  if (ImageTokens{data.images, model.tokens(grid)}.length() > (*sizes.input_ids)[1])
    throw Error(Errc::bad_value, "no room for the tokens that open and close images", "seq");
  sizes.image_grid_thw = Dims{images, 3};
  sizes.mm_token_type_ids = sizes.input_ids;
  sizes.grid = grid;
  if (!said)
    sizes.assumptions.push_back(fmt::format(
        "images of {} x {} pixels, the largest squares that the processor leaves as they are (--image-size)", side,
        side));
  return sizes;
}

}  // namespace tidemark
