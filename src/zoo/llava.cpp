// transformers: models/llava/{configuration,modeling,processing}_llava.py (5.17.0)
#include <fmt/format.h>

#include "base/error.h"
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/images.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct LlavaConfig {
  Value text_config = Value::Map(), vision_config = Value::Map();
  Value vision_feature_layer = -2;  // a number or a list of numbers
  std::string projector_hidden_act = "gelu", vision_feature_select_strategy = "default";
  bool multimodal_projector_bias = true, tie_word_embeddings = false;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    static constexpr std::string_view kStrategies[] = {"default", "full"};
    visit("text_config", c.text_config, kAny);
    visit("vision_config", c.vision_config, kAny);
    visit("vision_feature_layer", c.vision_feature_layer, kAny);
    visit("projector_hidden_act", c.projector_hidden_act, kAny);
    visit("vision_feature_select_strategy", c.vision_feature_select_strategy, FieldInfo{.names = kStrategies});
    visit("multimodal_projector_bias", c.multimodal_projector_bias, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
  }
  static KeyNames harmless() { return {"image_token_index", "image_token_id", "image_seq_length", "ignore_index"}; }
};

struct Llava {
  bool crops_class_token = true;
  std::vector<std::int64_t> layers;  // of the vision tower, whose outputs are taken
  Decoder decoder;
  VisionTower tower;
  Context context, language_context;

  std::int64_t tokens_per_image() const { return tower.patches() + (crops_class_token ? 0 : tower.class_tokens); }
};

void add_llava(Module& root, const Llava& llava, const LlavaConfig& c) {
  Module& m = root.add("model");
  llava.tower.add(m.add("vision_tower"));
  Module& projector = m.add("multi_modal_projector");
  const std::int64_t features = llava.tower.hidden_size * static_cast<std::int64_t>(llava.layers.size());
  add_linear(projector, "linear_1", features, llava.decoder.hidden_size, c.multimodal_projector_bias);
  add_activation(projector, "act", c.projector_hidden_act);
  add_linear(projector, "linear_2", llava.decoder.hidden_size, llava.decoder.hidden_size, c.multimodal_projector_bias);
  add_decoder(m.add("language_model"), llava.decoder);
  add_linear(root, "lm_head", llava.decoder.hidden_size, llava.decoder.vocab_size, false);
  if (c.tie_word_embeddings || llava.decoder.tie_word_embeddings)
    root["lm_head"].tie("weight", m["language_model"]["embed_tokens"], "weight");
}

Tensor projector(Module& m, Tensor image_features) {
  const Tensor argument = std::move(image_features);
  const InModule scope(argument.run(), m);
  Tensor hidden_states = m["linear_1"](argument);
  hidden_states = m["act"](hidden_states);
  hidden_states = m["linear_2"](hidden_states);
  return hidden_states;
}

/// LlavaModel.get_image_features: one tensor per image; all hidden states live until it returns.
Tensors image_features(Module& m, const Llava& llava, const Tensor& pixel_values) {
  const VisionOutputs image_outputs = llava.tower.forward(m["vision_tower"], llava.context, pixel_values, true);
  Tensors pool;
  for (const std::int64_t layer : llava.layers) {
    const auto count = static_cast<std::int64_t>(image_outputs.hidden_states.size());
    const auto at = static_cast<std::size_t>(layer < 0 ? count + layer : layer);
    TM_CHECK(at < image_outputs.hidden_states.size(), "vision_feature_layer");
    Tensor hidden = image_outputs.hidden_states[at];
    const std::int64_t length = hidden.size(1);
    pool.push_back(llava.crops_class_token ? slice(std::move(hidden), 1, 1, length) : std::move(hidden));
  }
  const Tensor selected = pool.size() == 1 ? pool[0] : cat(pool, -1);
  return unbind(projector(m["multi_modal_projector"], selected));
}

struct LlavaOutputs {
  Tensor last_hidden_state, image_hidden_states;
};

/// LlavaModel.forward
LlavaOutputs llava_model(Module& m, const Llava& llava, const Batch& batch, DynamicCache& cache) {
  const InModule scope(batch.input_ids.run(), m);
  Tensor inputs_embeds = m["language_model"]["embed_tokens"](batch.input_ids), features, special_image_mask;
  if (batch.pixel_values) {
    Tensors per_image = image_features(m, llava, batch.pixel_values);
    features = to(cat(per_image, 0), inputs_embeds.dtype());
    per_image.clear();
    special_image_mask = placeholder_mask(batch.input_ids);
    inputs_embeds = masked_scatter(inputs_embeds, special_image_mask, features);
  }
  Tensor hidden = decoder_model(m["language_model"], llava.decoder, llava.language_context, {}, inputs_embeds, batch.attention_mask, cache);
  return {std::move(hidden), std::move(features)};
}

Llava read_llava(const LlavaConfig& c, const Context& context) {
  const auto part = [](const Value& config, const char* usual) -> const ModelEntry& {
    const Value* type = config.find("model_type");
    return model_entry(type && type->as_text() ? *type->as_text() : usual);
  };
  const ModelEntry &text = part(c.text_config, "llama"), &vision = part(c.vision_config, "clip_vision_model");
  if (!text.decoder) throw Error(Errc::unsupported, fmt::format("{} as the language model of llava", text.model_type));
  if (!vision.vision_tower) throw Error(Errc::unsupported, fmt::format("{} as the vision tower of llava", vision.model_type));
  Llava llava{.crops_class_token = c.vision_feature_select_strategy == "default", .layers = {},
              .decoder = text.decoder(c.text_config), .tower = vision.vision_tower(c.vision_config), .context = context, .language_context = context};
  const Value::List one{c.vision_feature_layer};
  for (const Value& layer : c.vision_feature_layer.as_list() ? *c.vision_feature_layer.as_list() : one)
    llava.layers.push_back(to_integer(layer, {"config.json", "vision_feature_layer"}));
  return llava;
}

}  // namespace

std::unique_ptr<Model> make_llava(const ModelRequest& request) {
  const auto c = read_config<LlavaConfig>(request.config);
  auto model = std::make_unique<Model>();
  Module& root = model->root;
  root.dtype = request.dtype;
  Llava llava = read_llava(c, request.context);
  add_llava(root, llava, c);
  llava.language_context = behind(llava.context, root["model"]["vision_tower"]);
  model->batch_sizes = [llava](const Data& data) {
    BatchSizes sizes = text_batch(data, 2048);
    return with_images(sizes, data, llava.tokens_per_image(), image_sizes(data.batch * data.images, llava.tower.num_channels, llava.tower.image_size));
  };
  model->forward = [&root, llava](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    DynamicCache cache{.enabled = llava.context.use_cache, .layers = {}, .windows = {}};
    LlavaOutputs held = llava_model(root["model"], llava, batch, cache);
    ModelOutputs outputs = causal_lm_outputs(root, held.last_hidden_state, batch, std::move(cache), llava.decoder.logit_softcap);
    outputs.held.push_back(std::move(held.image_hidden_states));
    return outputs;
  };
  return model;
}

}  // namespace tidemark
