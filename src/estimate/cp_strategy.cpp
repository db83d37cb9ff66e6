#include "base/error.h"
#include "estimate/strategies.h"
#include "parallel/context_parallel.h"

namespace tidemark {
namespace {

/// What cannot run under context_parallel, or of which nothing is known.
void check_cp(const Model& model, const Spec& spec) {
  using enum Parallel;
  if (spec.parallel != none && spec.parallel != ddp && spec.parallel != fsdp2)
    refuse("cp", "beside this strategy, context parallelism is not modelled", "set parallel to none, ddp or fsdp2");
  if (spec.fsdp2 && spec.fsdp2->data_parallel_replicate_degree)
    refuse("fsdp2.data_parallel_replicate_degree", "groups of GPUs that share tokens and are copies are not modelled",
           "leave it out");
  if (spec.attn == Attention::eager)
    refuse("attn",
           "context_parallel replaces torch's scaled_dot_product_attention, which eager attention does not call",
           "set attn to sdpa");
  if (spec.padding) refuse("padding", "context_parallel takes no attention mask", "samples of one length need none");
  if (!model.takes_positions)
    refuse(
        "cp", "this model is not known with the tokens of a sample on several GPUs",
        "models of text alone are, trained for causal_lm, whose positions are learned or rotate alike in all lengths");
}

}  // namespace

void split_tokens(Run& run, const Model& model, const Spec& spec, const BatchSizes& sizes, StepHooks& hooks,
                  const Assume& assume) {
  if (!spec.cp || spec.cp->degree == 1) return;  // accelerate: ParallelismConfig.cp_enabled
  check_cp(model, spec);
  const CpSpec& asked = *spec.cp;
  if (!sizes.labels) refuse("labels", "context_parallel is known with a model that computes its loss itself");
  const std::int64_t tokens = (*sizes.input_ids)[1], pieces = asked.degree * (asked.load_balance ? 2 : 1);
  if (tokens % pieces != 0)  // of a sample as long as the model takes
    throw Error(Errc::bad_value, "the tokens of a sample are not equal pieces for each GPU", "seq",
                "a multiple of cp.degree, and with load_balance of twice that");
  assume("cp: labels are shifted and positions made before the batch is cut, as transformers' Trainer does");
  if (spec.parallel == Parallel::none) assume("cp: nobody adds up the gradients of the GPUs, as parallel is none");
  StepHooks inner = context_parallel(run, {.ring = {.ranks = asked.degree,
                                                    .rank = spec.rank % asked.degree,
                                                    .load_balance = asked.load_balance,
                                                    .rotate_method = asked.rotate_method},
                                           .restore_buffers = asked.restore_buffers});
  hooks.begins_settled = false;
  hooks.batch_is_loaded = std::move(inner.batch_is_loaded);
  hooks.batch_is_done = std::move(inner.batch_is_done);
}

}  // namespace tidemark
