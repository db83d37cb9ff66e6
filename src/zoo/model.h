// A family of models, as transformers knows it: one file per `model_type`, one line each in index.cpp.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/value.h"
#include "nn/decoder.h"
#include "nn/model.h"

namespace tidemark {

struct ModelRequest {
  const Value& config;  // of config.json
  std::string head;     // one of the entry's heads
  Context context;
  Dtype dtype = Dtype::bf16;  // of the weights
};

/// What a model is trained for, and the class that does it in transformers.
struct Head {
  const char *name, *class_name;
};

struct ModelEntry {
  const char* model_type;
  const char* summary;
  std::vector<Head> heads;  // the first is the default
  std::unique_ptr<Model> (*make)(const ModelRequest& request);
};

/// Every family, in alphabetical order.
std::span<const ModelEntry> model_entries();
/// Whether there is an entry of that model type.
bool is_written_family(std::string_view model_type);
/// Throws Error{unsupported} with the nearest name.
const ModelEntry& model_entry(const std::string& model_type);

}  // namespace tidemark
