// torch/optim/{adam,adamw}.py (2.11.0)
#include "train/optimizer.h"

namespace tidemark {
namespace {

void make_state(Optimizer& optimizer) {
  Run& run = optimizer.parameters.front().run();
  const Op op(run, "aten::zeros_like");
  const Setting<Category> category(run.category, Category::optimizer_state);
  optimizer.state.resize(optimizer.parameters.size());
  for (std::size_t i = 0; i < optimizer.parameters.size(); ++i) {
    if (!optimizer.parameters[i].grad() || !optimizer.state[i].empty()) continue;
    for (int moment = 0; moment < 2; ++moment) optimizer.state[i].push_back(empty_like(optimizer.parameters[i]));
  }
}

}  // namespace

void adamw_step(Optimizer& optimizer) {
  make_state(optimizer);
  const Op op(optimizer.parameters.front(), "aten::_foreach_sqrt");
  std::vector<Tensor> exp_avg_sq_sqrt;
  for (std::size_t i = 0; i < optimizer.parameters.size(); ++i)
    if (optimizer.parameters[i].grad()) exp_avg_sq_sqrt.push_back(empty_like(optimizer.state[i][1]));
}

}  // namespace tidemark
