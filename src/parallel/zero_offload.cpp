// offload_optimizer: {device: cpu}.  What of it is on the card: a gradient at a time on its way to the host.
#include <algorithm>

#include "parallel/gradient_norm.h"
#include "parallel/zero_optimizer.h"

namespace tidemark {
namespace {

class ZeroOnHost : public ZeroOptimizer {
 public:
  using ZeroOptimizer::ZeroOptimizer;

  /// Nothing on the card but temp_grad_buffer_for_gpu_offload.
  TensorList make_states() override {
    const Setting<Category> category(run_.category, Category::other);
    std::int64_t largest = 0;
    for (const Tensor& parameter : parameters_) largest = std::max(largest, parameter.elements());
    buffer_ = zeros(run_, Dims{largest}, Dtype::bf16);
    norms_.resize(parameters_.size());
    return {};
  }

  void step(Optimizer&) override {
    const Setting<Category> category(run_.category, Category::workspace);
    scalar(Dtype::uint8).reset();  // has_overflow
    for (std::size_t group = 0; group < groups_.size(); ++group)
      scalar(Dtype::f32).reset();  // complete_grad_norm_calculation_for_cpu_offload
    for (Tensor& norm : norms_) norm.reset();
  }

 private:
  Tensor scalar(Dtype dtype) {
    const Op op(run_, "aten::to");
    return empty(run_, Dims{1}, dtype);
  }

  /// Before the last pass gradients are added up on the host, from where they lie.
  void keep_gradient(std::size_t index) override {
    if (!is_last_) return;
    Tensor& gradient = parameters_[index].grad();
    const std::int64_t own = share(index, options_.rank);
    norms_[index] = grad_norm(view_of(gradient, {Dims{own}, Dims{1}}));  // set_norm_for_param_grad_in_gpu
    check_inf_or_nan(gradient);
    {
      const Op op(run_, "aten::to");  // async_inplace_copy_grad_to_fp32_buffer_from_gpu
      empty(run_, Dims{own}, Dtype::f32).reset();
    }
    gradient.reset();
  }

  void collect_gradients() override {}

  void take_large_gradient(const Tensor& parameter) override {
    Tensor copy = fresh("aten::clone", parameter.grad());
    parameter.grad() = std::move(copy);
  }

  Tensor buffer_;
  TensorList norms_;  // by parameter
};

}  // namespace

std::unique_ptr<ZeroOptimizer> zero_on_host(Run& run, const std::vector<TensorList>& groups,
                                            const ZeroOptions& options) {
  return std::make_unique<ZeroOnHost>(run, groups, options);
}

}  // namespace tidemark
