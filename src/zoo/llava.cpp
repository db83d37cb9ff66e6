// transformers: models/llava/{configuration,modeling,processing}_llava.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/images.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct LlavaConfig {
  Value text_config = Value::Map();
  Value vision_config = Value::Map{{"hidden_size", 1024}, {"intermediate_size", 4096}, {"patch_size", 14},
                                   {"image_size", 336},   {"num_hidden_layers", 24},   {"num_attention_heads", 16}};
  Value vision_feature_layer = -2;  // a number or a list of numbers
  std::string projector_hidden_act = "gelu", vision_feature_select_strategy = "default";
  bool multimodal_projector_bias = true, tie_word_embeddings = false;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    static constexpr std::string_view kStrategies[] = {"default", "full"};
    visit_all(visit, kAny, "text_config", c.text_config, "vision_config", c.vision_config, "vision_feature_layer",
              c.vision_feature_layer, "projector_hidden_act", c.projector_hidden_act, "multimodal_projector_bias",
              c.multimodal_projector_bias, "tie_word_embeddings", c.tie_word_embeddings);
    visit("vision_feature_select_strategy", c.vision_feature_select_strategy, FieldInfo{.names = kStrategies});
  }
  static KeyNames harmless() { return {"image_token_index", "image_token_id", "image_seq_length"}; }
};

struct Llava {
  bool crops_class_token = true;
  std::vector<std::size_t> layers;  // of the vision tower's hidden states, those that are taken
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
}

/// LlavaModel.get_image_features: one tensor per image; all hidden states live until it returns.
Tensors image_features(Module& m, const Llava& llava, const Tensor& pixel_values) {
  const VisionOutputs image_outputs = llava.tower.forward(m["vision_tower"], llava.context, pixel_values, true);
  Tensors pool;
  for (const std::size_t layer : llava.layers) {
    Tensor hidden = image_outputs.hidden_states[layer];
    const std::int64_t length = hidden.size(1);
    pool.push_back(llava.crops_class_token ? slice(std::move(hidden), 1, 1, length) : std::move(hidden));
  }
  const Tensor selected = pool.size() == 1 ? pool[0] : cat(pool, -1);
  return unbind(chain(m["multi_modal_projector"], {"linear_1", "act", "linear_2"}, selected));
}

/// LlavaModel.forward
Tensor llava_model(Module& m, const Llava& llava, const Batch& batch, DynamicCache& cache, std::vector<Tensor>& held) {
  const Call call(batch.input_ids.run(), m);
  Tensor inputs_embeds = m["language_model"]["embed_tokens"](batch.input_ids), special_image_mask;
  if (batch.pixel_values) {
    Tensors per_image = image_features(m, llava, batch.pixel_values);
    Tensor features = to(cat(per_image, 0), inputs_embeds.dtype());
    per_image.clear();
    special_image_mask = placeholder_mask(batch.input_ids);
    inputs_embeds = masked_scatter(inputs_embeds, special_image_mask, features);
    held.push_back(std::move(features));  // image_hidden_states
  }
  return call.returns(decoder_model(m["language_model"], llava.decoder, llava.language_context, {}, inputs_embeds,
                                    batch.attention_mask, cache));
}

Llava read_llava(const LlavaConfig& c, const Context& context) {
  Llava llava{.crops_class_token = c.vision_feature_select_strategy == "default",
              .layers = {},
              .decoder = text_part(c.text_config, "llama"),
              .tower = vision_part(c.vision_config, "clip_vision_model"),
              .context = context,
              .language_context = context};
  llava.layers = feature_layers(c.vision_feature_layer, llava.tower.num_hidden_layers);
  return llava;
}

}  // namespace

std::unique_ptr<Model> make_llava(const ModelRequest& request) {
  const auto c = read_config<LlavaConfig>(request.config);
  std::unique_ptr<Model> model = new_model(request);
  Module& root = model->root;
  Llava llava = read_llava(c, request.context);
  add_llava(root, llava, c);
  llava.language_context = behind(llava.context, root["model"]["vision_tower"]);
  model->batch_sizes = [llava](const Data& data) {
    check_image_size(data, llava.tower.image_size);
    return with_images(text_batch(data, kUsualTokens), data, llava.tokens_per_image(),
                       image_sizes(data.batch * data.images, llava.tower.num_channels, llava.tower.image_size));
  };
  const TextHead head{c.tie_word_embeddings || llava.decoder.tie_word_embeddings};
  finish_text_model(*model, request, root["model"]["language_model"]["embed_tokens"], head,
                    [&m = root["model"], llava](const Batch& batch, DynamicCache& cache, std::vector<Tensor>& held) {
                      return llava_model(m, llava, batch, cache, held);
                    });
  Module& m = root["model"];
  model->stack =
      stack_of(root, m["language_model"], llava.decoder, request, {&m["vision_tower"], &m["multi_modal_projector"]});
  return model;
}

}  // namespace tidemark
