#include "zoo/classification.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tidemark {

namespace {

struct LabelConfig {
  std::optional<std::int64_t> num_labels;
  Value id2label;
  std::optional<std::string> problem_type;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("num_labels", c.num_labels, kSize);
    visit_all(visit, kAny, "id2label", c.id2label, "problem_type", c.problem_type);
  }
};

}  // namespace

/// transformers: configuration_utils.PreTrainedConfig.__post_init__
std::int64_t count_labels(const Value& config) {
  LabelConfig c;
  read_fields(config, c, "config.json", {"*"});
  const auto& [num_labels, id2label, problem_type] = c;
  const Value::Map* names = id2label.as_map();
  if (!names && !id2label.is_null()) fail_expected("a map", id2label, {"config.json", "id2label"});
  const auto named = names ? std::optional(static_cast<std::int64_t>(names->size())) : std::nullopt;
  if (named && num_labels && *named != *num_labels)
    throw Error(Errc::bad_value, fmt::format("it says {}, and id2label names {}", *num_labels, *named),
                "config.json: num_labels", "leave one of them out");
  const std::int64_t labels = named.value_or(num_labels.value_or(2));
  if (labels < 1) throw Error(Errc::bad_value, "it names no label", "config.json: id2label");
  refuse(problem_type && *problem_type != "single_label_classification", "problem_type", problem_type.value_or(""));
  refuse(labels == 1, named ? "the number of labels in id2label" : "num_labels", "1 (regression)");
  return labels;
}

ModelOutputs classified(Tensor logits, const Batch& batch) {
  ModelOutputs outputs;
  if (batch.labels) outputs.loss = cross_entropy(view(logits, {-1, logits.size(-1)}), view(batch.labels, {-1}));
  outputs.held.push_back(std::move(logits));
  return outputs;
}

ModelOutputs sequence_classified(Module& root, const Tensor& hidden_states, const Batch& batch, bool padded) {
  Run& run = hidden_states.run();
  const std::int64_t batch_size = batch.input_ids.size(0);
  const Tensor logits = root["score"](hidden_states);
  Tensor non_pad_mask, token_indices, last_non_pad_token, pooled_logits;
  if (padded) {
    non_pad_mask = compare("aten::ne", batch.input_ids);
    non_pad_mask = to(non_pad_mask, Dtype::int32);
    token_indices = arange(run, batch.input_ids.size(-1), Dtype::int32);
    last_non_pad_token = argmax(mul(token_indices, non_pad_mask));
    const Tensor samples = arange(run, batch_size);
    pooled_logits = index_pairs(logits, samples, last_non_pad_token);
  } else {
    const Tensor samples = arange(run, batch_size);
    pooled_logits = index_rows(select(logits, 1, -1), samples);
  }
  return classified(std::move(pooled_logits), batch);
}

BatchSizes with_one_label(BatchSizes sizes, bool padded) {
  const std::int64_t batch = (*sizes.input_ids)[0];
  if (!padded && batch != 1)
    throw Error(Errc::bad_value, fmt::format("{} samples, and no token that pads the shorter ones", batch),
                "config.json: pad_token_id", "name one, or train with batches of 1");
  if (sizes.labels) sizes.labels = Dims{batch};
  return sizes;
}

}  // namespace tidemark
