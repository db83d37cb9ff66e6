#include "parallel/context_parallel.h"

#include "base/error.h"
#include "ops/selection.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

class ContextParallel {
 public:
  ContextParallel(Run& run, const ContextParallelOptions& options) : run_(run), options_(options) {}

  void enter(Batch& batch) {
    const Setting<Category> category(run_.category, Category::other);
    const NoGrad no_grad(run_);
    add_positions(batch);
    const std::vector<Tensor*> buffers = buffers_of(batch);
    if (options_.restore_buffers)
      for (const Tensor* buffer : buffers) originals_.push_back(clone(*buffer));
    shard(buffers);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      shard_ = shards_[i];
      shard_ = clone(shard_);
      resize_(*buffers[i], shard_.sizes());
    }
    called_ = false;
    run_.scaled_dot_product_attention = [this](Tensor q, Tensor k, Tensor v, const Tensor& mask,
                                               const AttentionOptions& options) {
      called_ = true;
      return ring_attention(options_.ring, std::move(q), std::move(k), std::move(v), mask, options);
    };
  }

  void leave(Batch& batch) {
    run_.scaled_dot_product_attention = nullptr;
    if (!called_)
      throw Error(Errc::unsupported,
                  "the model's attention does not go through torch's scaled_dot_product_attention, which "
                  "context_parallel replaces",
                  "cp");
    const std::vector<Tensor*> buffers = buffers_of(batch);
    for (std::size_t i = 0; i < originals_.size(); ++i) resize_(*buffers[i], originals_[i].sizes());
    originals_.clear();
    shards_.clear();
    shard_.reset();
  }

 private:
  /// transformers: Trainer._prepare_context_parallel_inputs
  static void add_positions(Batch& batch) {
    const std::int64_t rows = batch.input_ids.size(0), tokens = batch.input_ids.size(1);
    const Tensor labels = pad(batch.labels, {0, 1});
    batch.shift_labels = contiguous(slice(labels, -1, 1, labels.size(-1)));
    batch.position_ids = expand(arange(batch.input_ids.run(), tokens), {rows, tokens});
  }

  static std::vector<Tensor*> buffers_of(Batch& batch) {
    return {&batch.input_ids, &batch.labels, &batch.shift_labels, &batch.attention_mask, &batch.position_ids};
  }

  /// _context_parallel_buffers: in the order of _HeadTailLoadBalancer or as they are, and of that a copy of this GPU's
  /// part, which lasts as long as the context.
  void shard(const std::vector<Tensor*>& buffers) {
    const Ring& ring = options_.ring;
    Tensor indices;
    if (ring.load_balance) indices = balanced_indices(buffers[0]->size(1), ring.ranks);
    for (const Tensor* buffer : buffers) {
      Tensor balanced = *buffer;
      if (indices) balanced = gather(balanced, 1, expand(unsqueeze(indices, 0), balanced.sizes()));
      shards_.push_back(clone(slice(balanced, 1, 0, balanced.size(1) / ring.ranks)));
    }
  }

  /// _HeadTailLoadBalancer._generate_indices
  Tensor balanced_indices(std::int64_t tokens, std::int64_t ranks) {
    if (!run_.torch().balances_tokens_on_device) return to_device(run_, Dims{tokens}, Dtype::int32);
    const Tensor indices = arange(run_, tokens, Dtype::int32);
    const Tensor chunks = view(indices, {2 * ranks, tokens / (2 * ranks)});
    const Tensor head = arange(run_, ranks);
    const Tensor tail = sub_scalar(head);
    return view(stack(Tensors{index_rows(chunks, head), index_rows(chunks, tail)}, 1), {tokens});
  }

  /// Tensor.resize_, which never makes memory smaller.
  void resize_(Tensor& tensor, const Dims& sizes) {
    TensorImpl& impl = tensor.impl();
    impl.layout = {sizes, contiguous_strides(sizes)};
    if (tensor.bytes() > run_.bytes_of(*impl.storage)) run_.resize(*impl.storage, tensor.bytes());
  }

  Run& run_;
  const ContextParallelOptions options_;
  std::vector<Tensor> originals_, shards_;
  Tensor shard_;  // the variable of a loop
  bool called_ = true;
};

}  // namespace

StepHooks context_parallel(Run& run, const ContextParallelOptions& options) {
  const auto context = std::make_shared<ContextParallel>(run, options);
  StepHooks hooks;
  hooks.batch_is_loaded = [context](Batch& batch) { context->enter(batch); };
  hooks.batch_is_done = [context](Batch& batch) { context->leave(batch); };
  return hooks;
}

}  // namespace tidemark
