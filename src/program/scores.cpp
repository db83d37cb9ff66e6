#include "program/scores.h"

namespace tidemark {

Value with_one_score(Value config) {
  config.set("num_labels", 1);
  for (const char* key : {"id2label", "label2id", "problem_type"})
    if (config.find(key)) config.set(key, Value());
  const Value* pad = config.find("pad_token_id");
  if (!pad || pad->is_null()) config.set("pad_token_id", 0);
  return config;
}

}  // namespace tidemark
