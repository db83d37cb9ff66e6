// Which modules of a model are its embeddings, as transformers' models say it of themselves.
#pragma once
#include <string>

#include "nn/module.h"

namespace tidemark {

/// PreTrainedModel.get_input_embeddings, by the names that the families give it: of text, or of a tower's patches.
bool is_input_embedding(const Module& module);
/// PreTrainedModel.get_output_embeddings: what a program says is, or what families give it as full name.
bool is_output_embedding(const Module& module);

}  // namespace tidemark
