#include "zoo/experts_config.h"

#include <algorithm>

namespace tidemark {

std::vector<bool> ExpertsConfig::dense_layers(std::int64_t layers) const {
  const std::vector<std::int64_t> named = mlp_only_layers.value_or(std::vector<std::int64_t>{});
  std::vector<bool> dense;
  for (std::int64_t i = 0; i < layers; ++i)
    dense.push_back(std::find(named.begin(), named.end(), i) != named.end() || (i + 1) % decoder_sparse_step != 0);
  return dense;
}

}  // namespace tidemark
