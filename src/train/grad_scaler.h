// torch/amp/grad_scaler.py (2.11.0), for one optimizer on one device.
#pragma once
#include "train/optimizer.h"

namespace tidemark {

class GradScaler {
 public:
  explicit GradScaler(bool enabled) : enabled_(enabled) {}

  /// scaler.scale(loss): the loss itself when it is not enabled.
  Tensor scale(Tensor loss);
  void unscale(Optimizer& optimizer);
  void step(Optimizer& optimizer);
  void update();

 private:
  void unscale_gradients(const Tensor& found_inf, const Tensor& inv_scale);

  bool enabled_;
  Tensor scale_, growth_tracker_;
  Tensor found_inf_;  // from unscale_ to update
};

}  // namespace tidemark
