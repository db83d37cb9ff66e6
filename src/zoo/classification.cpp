#include "zoo/classification.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tidemark {

/// transformers: configuration_utils.PreTrainedConfig.__post_init__
std::int64_t LabelConfig::count() const {
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

}  // namespace tidemark
