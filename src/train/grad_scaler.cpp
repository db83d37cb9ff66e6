#include "train/grad_scaler.h"

namespace tidemark {
namespace {

Tensor full(Run& run, Dtype dtype) {
  const Op op(run, "aten::full");
  return empty(run, Dims{}, dtype);
}

}  // namespace

Tensor GradScaler::scale(Tensor loss) {
  if (!enabled_) return loss;
  if (!scale_) {
    const Setting<Category> category(loss.run().category, Category::other);
    scale_ = full(loss.run(), Dtype::f32);
    growth_tracker_ = full(loss.run(), Dtype::int32);
  }
  return mul(std::move(loss), scale_);
}

/// _unscale_grads_: works on copies of both (_MultiDeviceReplicator.get), and keeps that of found_inf.
void GradScaler::unscale_gradients(const Tensor& found_inf, const Tensor& inv_scale) {
  found_inf_ = fresh("aten::to", found_inf);
  const Tensor inv_scale_copy = fresh("aten::to", inv_scale);
}

void GradScaler::unscale(Optimizer& optimizer) {
  if (!enabled_) return;
  Run& run = optimizer.run();
  const Setting<Category> category(run.category, Category::other);
  Tensor inv_scale = to(scale_, Dtype::f64);  // the reciprocal is taken in float64
  inv_scale = fresh("aten::reciprocal", inv_scale);
  inv_scale = to(inv_scale, Dtype::f32);
  unscale_gradients(full(run, Dtype::f32), inv_scale);
}

void GradScaler::step(Optimizer& optimizer) {
  if (!enabled_) return step_groups(optimizer);
  if (!optimizer.supports_amp_scaling) {
    if (!found_inf_) unscale(optimizer);
    return step_groups(optimizer);
  }
  Run& run = optimizer.run();
  const bool unscaled = static_cast<bool>(found_inf_);
  Tensor found_inf, grad_scale;
  {
    const Setting<Category> category(run.category, Category::other);
    if (!unscaled) {  // _check_inf_per_device
      const Tensor dummy_inv_scale = full(run, Dtype::f32);
      unscale_gradients(full(run, Dtype::f32), dummy_inv_scale);
    }
    found_inf = fresh("aten::add", found_inf_);  // sum([found_inf]) begins with 0 + found_inf
    if (!unscaled) grad_scale = fresh("aten::mul", scale_);
  }
  step_groups(optimizer);
}

void GradScaler::update() { found_inf_.reset(); }

}  // namespace tidemark
