// transformers: models/qwen2_vl/modeling_qwen2_vl.py (5.17.0)
#include "nn/mrope.h"
#include "zoo/causal_lm.h"
#include "zoo/images.h"
#include "zoo/index.h"
#include "zoo/qwen2_vl_config.h"

namespace tidemark {
namespace {

/// Qwen2VLTextModel.forward
Tensor text_model(Module& m, const Qwen2Vl& model, Tensor inputs_embeds, Tensor position_ids,
                  const Tensor& attention_mask, DynamicCache& cache) {
  const Call call(inputs_embeds.run(), m);
  const Context& context = model.language_context;
  const std::int64_t b = inputs_embeds.size(0), s = inputs_embeds.size(1);
  if (!position_ids) position_ids = expand(view(add_scalar(arange(inputs_embeds.run(), s)), {1, 1, -1}), {3, b, -1});
  DecoderInputs inputs{model.decoder,
                       context,
                       create_causal_mask(context, inputs_embeds, attention_mask),
                       {},
                       cache.enabled ? &cache : nullptr};
  Tensor hidden_states = inputs_embeds;
  inputs.rotary = multimodal_rotary_embedding(m["rotary_emb"], hidden_states, position_ids, model.mrope_section);
  hidden_states = run_layers(m["layers"], std::move(hidden_states), inputs, decoder_layer);
  hidden_states = m["norm"](hidden_states);
  return call.returns(hidden_states);
}

/// Qwen2VLModel.get_image_features: one tensor per image.
Tensors image_features(Module& m, const Qwen2Vl& model, const Batch& batch) {
  const Tensor pixel_values = to(batch.pixel_values, m.dtype);
  const VisionOutputs vision_outputs =
      qwen2_vl_vision(m["visual"], model.vision, model.context, pixel_values, batch.image_grid_thw, batch.grid);
  {
    const Tensor split_sizes = floor_divide(prod(batch.image_grid_thw, -1));
    split_sizes.run().stream_calls.host_waits();  // tolist()
  }
  return split(vision_outputs.pooler_output, model.tokens(batch.grid), 0);
}

struct Placeholders {
  Tensor image, video;
};

/// Qwen2VLModel.get_placeholder_mask
Placeholders placeholder_masks(const Tensor& input_ids) {
  const Tensor image_mask = compare("aten::eq", input_ids), video_mask = compare("aten::eq", input_ids);
  const Tensor n_image_tokens = count_true(image_mask);
  {
    const Tensor all_found = compare("aten::eq", mul_scalar(n_image_tokens));
    torch_compilable_check(all_found);
  }
  const Tensor n_video_tokens = count_true(video_mask);
  return {unsqueeze(image_mask, -1), unsqueeze(video_mask, -1)};
}

/// Qwen2VLModel.forward
Tensor qwen2_vl_model(Module& m, const Qwen2Vl& model, const Batch& batch, Tensor& rope_deltas, DynamicCache& cache) {
  const Call call(batch.input_ids.run(), m);
  Tensor inputs_embeds = m["language_model"]["embed_tokens"](batch.input_ids), image_embeds, position_ids;
  Placeholders masks;
  if (batch.pixel_values) {
    Tensors per_image = image_features(m, model, batch);
    image_embeds = to(cat(per_image, 0), inputs_embeds.dtype());
    per_image.clear();
    masks = placeholder_masks(batch.input_ids);
    inputs_embeds = masked_scatter(inputs_embeds, masks.image, image_embeds);
    const ImageTokens layout{batch.image_grid_thw.size(0) / batch.input_ids.size(0), model.tokens(batch.grid)};
    RopeIndex index = get_rope_index(batch, layout, model.vision.spatial_merge_size);
    position_ids = std::move(index.position_ids);
    rope_deltas = std::move(index.deltas);
  }
  return call.returns(text_model(m["language_model"], model, inputs_embeds, position_ids, batch.attention_mask, cache));
}

}  // namespace

std::unique_ptr<Model> make_qwen2_vl(const ModelRequest& request) {
  const Qwen2Vl qwen = read_qwen2_vl(request.config, request.context);
  std::unique_ptr<Model> model = new_model(request);
  Module& m = model->root.add("model");
  add_qwen2_vl_vision(m.add("visual"), qwen.vision);
  add_decoder(m.add("language_model"), qwen.decoder);
  model->batch_sizes = [qwen](const Data& data) { return qwen2_vl_batch(qwen, data); };
  // What the model remembers of the last batch: rope_deltas.
  finish_text_model(*model, request, m["language_model"]["embed_tokens"], {qwen.decoder.tie_word_embeddings},
                    [&m, qwen, rope_deltas = std::make_shared<Tensor>()](const Batch& batch, DynamicCache& cache,
                                                                         std::vector<Tensor>&) {
                      return qwen2_vl_model(m, qwen, batch, *rope_deltas, cache);
                    });
  return model;
}

}  // namespace tidemark
