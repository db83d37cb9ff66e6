#include "ops/advanced_index.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "tensor/stage.h"
#include "train/grpo.h"

namespace tidemark {
namespace {

/// The result of an operation that keeps nothing.
Tensor result_of(const char* name, const Tensor& like, const Dims& sizes, Dtype dtype) {
  const Op op(like, name);
  return empty(like.run(), sizes, dtype);
}

Tensor result_of(const char* name, const Tensor& like, Dtype dtype) {
  return result_of(name, like, like.sizes(), dtype);
}

/// torch.isnan(x).all(dim)
Tensor all_nan(const Tensor& x, const Dims& sizes) {
  const Tensor is_nan = compare("aten::isnan", x);
  return result_of("aten::all", is_nan, sizes, Dtype::boolean);
}

/// ~torch.isnan(x)
Tensor is_number(const Tensor& x) {
  const Tensor is_nan = compare("aten::isnan", x);
  return bitwise("aten::bitwise_not", is_nan);
}

/// variance *= count / (count - 1), where count > 1.  trl: trainer/utils.py, nanstd (1.16.0)
Tensor nanstd(const Tensor& x, const Dims& dims) {
  Tensor mean = plain_nanmean(x, dims, true);
  Tensor variance;
  {
    const Tensor squares = [&] {
      const Tensor centered = sub(x, mean);
      return pow2(centered);
    }();
    variance = plain_nanmean(squares, dims, true);
  }
  Tensor count;
  {
    const Tensor numbers = is_number(x);
    count = sum(numbers, dims, true);
  }
  Tensor correction;
  {
    const Tensor less = sub_scalar(count);
    correction = result_of("aten::div", less, Dtype::f32);
  }
  {
    Tensor several = compare("aten::gt", count), nan = result_of("aten::full_like", correction, Dtype::f32);
    Tensor chosen = result_of("aten::where", correction, Dtype::f32);
    release(several, nan);
    correction = std::move(chosen);
  }
  Tensor std = sqrt(variance);
  release(mean, variance, count, correction);
  return std;
}

/// torch.isclose(x, zeros_like(x)).  torch: native/TensorCompare.cpp
Tensor is_zero(const Tensor& x) {
  const Tensor zeros_like = result_of("aten::zeros_like", x, Dtype::f32);
  Tensor close = compare("aten::eq", x);
  Tensor allowed_error;
  {
    Tensor scaled = mul_scalar(zeros_like), size = abs(scaled);
    allowed_error = add_scalar(size);
    release(size, scaled);
  }
  Tensor actual_error;
  {
    const Tensor difference = sub(x, zeros_like);
    actual_error = abs(difference);
  }
  {
    Tensor is_finite;
    {
      const Tensor size = abs(actual_error);  // the second factor first, as GCC has it
      const Tensor is_no_infinity = compare("aten::ne", size), is_same = compare("aten::eq", actual_error);
      is_finite = result_of("aten::mul", is_same, Dtype::boolean);
    }
    Tensor is_allowed = compare("aten::le", actual_error);
    release(is_allowed, is_finite);
  }
  release(actual_error, allowed_error);
  return close;
}

/// rewards_per_func * weights, summed over the functions.
Tensor weighted_rewards(Run& run, const Tensor& rewards_per_func) {
  Tensor weighted;
  {
    const Tensor weights = to_device(run, {1}, Dtype::f32);
    weighted = mul(rewards_per_func, weights);
  }
  return result_of("aten::nansum", weighted, {rewards_per_func.size(0)}, Dtype::f32);
}

/// _calculate_rewards
Tensor calculated_rewards(Run& run, std::int64_t samples) {
  const InStage in_stage(run, "rewards");
  Tensor rewards_per_func = zeros(run, {samples, 1}, Dtype::f32);
  {
    const Tensor output_reward_func = to_device(run, {samples}, Dtype::f32);
  }
  const Tensor no_reward = all_nan(rewards_per_func, {samples});
  result_of("aten::any", no_reward, Dims{}, Dtype::boolean);
  return rewards_per_func;
}

}  // namespace

Tensor plain_nanmean(const Tensor& x, const Dims& dims, bool keep_dims) {
  Tensor count;
  {
    const Tensor numbers = compare("aten::isnan", x);
    count = sum(numbers, dims, keep_dims);
  }
  Tensor total = sum(x, dims, keep_dims);
  Tensor mean = div(total, count);
  release(total, count);
  return mean;
}

void look_at_extreme(const Tensor& values) {
  const std::int64_t count = values.elements();
  all_nan(values, Dims{});
  Tensor numbers = is_number(values);
  Tensor kept;
  if (values.dims() == 0) {  // as one row
    const Tensor places = result_of("aten::zeros", values, {1}, Dtype::int64);
    kept = result_of("aten::index", values, {1}, values.dtype());
  } else {
    kept = index(values, {numbers}, count);
  }
  numbers.reset();
  Tensor extreme = result_of("aten::min", kept, Dims{}, values.dtype());
  release(kept, extreme);
}

Tensor advantages_of(const Training& training, std::int64_t samples, RewardLocals& locals) {
  Run& run = training.run;
  const std::int64_t per_group = training.options.grpo->num_generations, groups = samples / per_group;
  const Tensor& rewards_per_func = locals.rewards_per_func = calculated_rewards(run, samples);
  locals.unscorable_mask = all_nan(rewards_per_func, {samples});
  locals.rewards = weighted_rewards(run, rewards_per_func);
  const auto grouped = [&] { return view(locals.rewards, {groups, per_group}); };
  const auto of_each = [&](const Tensor& of_group) {
    return result_of("aten::repeat_interleave", of_group, {samples}, Dtype::f32);
  };
  locals.mean_grouped_rewards = of_each(plain_nanmean(grouped(), {1}, false));
  locals.std_rewards = of_each(nanstd(grouped(), {1}));
  Tensor advantages;
  {
    Tensor centered = sub(locals.rewards, locals.mean_grouped_rewards), floor = add_scalar(locals.std_rewards);
    advantages = div(centered, floor);
    release(floor, centered);
  }
  locals.is_std_zero = is_zero(locals.std_rewards);
  advantages = result_of("aten::nan_to_num", advantages, Dtype::f32);
  locals.all_process_advantages = clone(advantages);
  plain_nanmean(select(rewards_per_func, 1, 0), {0}, false);
  nanstd(select(rewards_per_func, 1, 0), {0});
  locals.rewards = weighted_rewards(run, rewards_per_func);
  plain_nanmean(locals.rewards, {0}, false);
  nanstd(locals.rewards, {0});
  mean(to(locals.is_std_zero, Dtype::f32));
  return advantages;
}

}  // namespace tidemark
