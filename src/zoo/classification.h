// One label for a whole input: what heads named *ForSequenceClassification and *ForImageClassification share.
#pragma once
#include "nn/model.h"
#include "zoo/hf_config.h"

namespace tidemark {

/// How many labels there are: `num_labels`, or as many as have names.
struct LabelConfig {
  std::optional<std::int64_t> num_labels;
  Value id2label;
  std::optional<std::string> problem_type;

  template <class Self, class Visit>
  static void visit_fields(Self& c, Visit&& visit) {
    visit("num_labels", c.num_labels, kSize);
    visit("id2label", c.id2label, kAny);
    visit("problem_type", c.problem_type, kAny);
  }
  /// Throws Error{unsupported} for what is not one label of several: regression, several labels at once.
  std::int64_t count() const;
};

/// CrossEntropyLoss()(logits.view(-1, classes), labels.view(-1))
ModelOutputs classified(Tensor logits, const Batch& batch);

}  // namespace tidemark
