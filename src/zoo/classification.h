// One label for a whole input: what heads named *ForSequenceClassification and *ForImageClassification share.
#pragma once
#include "nn/model.h"
#include "zoo/hf_config.h"

namespace tidemark {

/// How many labels there are: `num_labels` of a family's config, or as many as have names.  Throws Error{unsupported}
/// for what is not one label of several: regression, several labels at once.
std::int64_t count_labels(const Value& config);

/// CrossEntropyLoss()(logits.view(-1, classes), labels.view(-1))
ModelOutputs classified(Tensor logits, const Batch& batch);

/// GenericForSequenceClassification.forward from `score` on, in a model of text that is read at each sample's last
/// token; without a token for padding that is the last of one sample.
ModelOutputs sequence_classified(Module& root, const Tensor& hidden_states, const Batch& batch, bool padded);
/// One label per sample.  Throws where padding would have to be told from text, and cannot.
BatchSizes with_one_label(BatchSizes sizes, bool padded);

}  // namespace tidemark
