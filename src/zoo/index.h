// One line per family: its maker.
#pragma once
#include "zoo/model.h"

namespace tidemark {

std::unique_ptr<Model> make_llama(const ModelRequest& request);

}  // namespace tidemark
