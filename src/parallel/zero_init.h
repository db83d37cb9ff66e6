// Parameters that are cut as soon as their module is made: deepspeed.zero.Init (0.19.8), as from_pretrained and
// from_config have it around a model where DeepSpeed's configuration is known first.
// deepspeed/runtime/zero/partition_parameters.py; transformers: modeling_utils.py, integrations/deepspeed.py (5.17.0)
#pragma once
#include <memory>
#include <string>

#include "parallel/zero3.h"

namespace tidemark {

struct ZeroInitOptions {
  bool from_config = false;           // else from_pretrained
  std::string rope_type = "default";  // of rope_parameters
};

/// model = Class.from_pretrained(...), or from_config.  Throws Error{unsupported} for a buffer that is not known.
std::shared_ptr<ParameterStore> make_in_parts(Run& run, Module& root, const Zero3Options& options,
                                              const ZeroInitOptions& how);

}  // namespace tidemark
