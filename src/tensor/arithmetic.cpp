#include "tensor/arithmetic.h"

#include "tensor/reduction.h"
#include "tensor/run.h"

namespace tidemark {

Tensor plain_add(Tensor a, Tensor b) {
  a.run().use(a);
  a.run().use(b);
  const Layout* operands[] = {&a.layout(), &b.layout()};
  return empty(a.run(), elementwise_layout(operands), promote(a.dtype(), b.dtype()));
}

Dims every_dimension(const Tensor& tensor) {
  Dims marked = tensor.sizes();
  for (int d = 0; d < marked.count(); ++d) marked[d] = 1;
  return marked;
}

Dims every_dimension_but(const Tensor& tensor, int kept) {
  Dims marked = every_dimension(tensor);
  marked[kept] = 0;
  return marked;
}

Tensor plain_sum(Tensor tensor, const Dims& reduced, bool keep_dims, Dtype dtype) {
  Run& run = tensor.run();
  run.use(tensor);
  Dims sizes;
  for (int d = 0; d < tensor.dims(); ++d) {
    if (!reduced[d])
      sizes.push_back(tensor.size(d));
    else if (keep_dims)
      sizes.push_back(1);
  }
  Tensor sum = empty(run, sizes, dtype);
  if (!is_floating(tensor.dtype()) && tensor.dtype() != dtype) tensor = empty_like(tensor, dtype);
  use_reduction_scratch(tensor, reduced, dtype);
  return sum;
}

void use_reduction_scratch(const Tensor& tensor, const Dims& reduced, Dtype dtype, std::int64_t numbers) {
  Run& run = tensor.run();
  const Dtype accumulate = is_floating(dtype) && size_of(dtype) < 4 ? Dtype::f32 : dtype;
  const ReductionScratch scratch = reduction_scratch(tensor.layout(), reduced, tensor.dtype(), accumulate, run.card());
  if (scratch.buffer_bytes == 0) return;
  const Setting<Category> workspace(run.category, Category::workspace);
  const Ref<Storage> buffer = run.allocate(numbers * scratch.buffer_bytes),
                     semaphores = run.allocate(scratch.semaphore_bytes);
}

Tensor plain_sum_to(Tensor tensor, const Dims& sizes) {
  const int leading = tensor.dims() - sizes.count();
  Dims reduced = tensor.sizes();
  bool any = false;
  for (int d = 0; d < tensor.dims(); ++d) {
    reduced[d] = d < leading || (sizes[d - leading] == 1 && tensor.size(d) != 1) ? 1 : 0;
    any = any || reduced[d] != 0;
  }
  if (!any) return tensor;
  const Dtype dtype = tensor.dtype();
  tensor = plain_sum(std::move(tensor), reduced, true, dtype);
  return leading > 0 ? view_of(tensor, {sizes, contiguous_strides(sizes)}) : tensor;
}

Tensor plain_cast(Tensor tensor, Dtype dtype) {
  tensor.run().use(tensor);
  return empty_like(tensor, dtype);
}

}  // namespace tidemark
