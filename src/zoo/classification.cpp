#include "zoo/classification.h"

namespace tidemark {

std::int64_t LabelConfig::count() const {
  const Value::Map* names = id2label.as_map();
  const std::int64_t labels = num_labels.value_or(names ? static_cast<std::int64_t>(names->size()) : 2);
  refuse(labels == 1, "num_labels", "1");
  refuse(problem_type && *problem_type != "single_label_classification", "problem_type", problem_type.value_or(""));
  return labels;
}

ModelOutputs classified(Tensor logits, const Batch& batch) {
  ModelOutputs outputs;
  if (batch.labels) outputs.loss = cross_entropy(view(logits, {-1, logits.size(-1)}), view(batch.labels, {-1}));
  outputs.held.push_back(std::move(logits));
  return outputs;
}

}  // namespace tidemark
