#include "generation/greedy.h"

#include <utility>
#include <vector>

#include "ops/membership.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/selection.h"

namespace tidemark {
namespace {

/// (a op b).any() or .all(), which the host reads.
void read_any(const char* comparison, const char* reduction, const Tensor& a) {
  any_or_all(reduction, compare(comparison, a));
}

/// logits.to(copy=True, dtype=torch.float32)
Tensor in_float32(Tensor logits) {
  return logits.dtype() == Dtype::f32 ? clone(std::move(logits)) : to(std::move(logits), Dtype::f32);
}

class Greedy {
 public:
  Greedy(Run& run, Model& model, const Generation& generation, const GenerationObserver& observer)
      : run_(run), model_(model), generation_(generation), observer_(observer) {}

  std::int64_t generate() {
    observer_(GenerationPhase::prefill);
    prepare();
    ModelOutputs outputs = prefill();
    take_token(outputs);
    for (std::int64_t made = 1; made < generation_.new_tokens; ++made) {
      if (made == 1) observer_(GenerationPhase::decode);
      outputs = decode(generation_.prompt_tokens + made);
      take_token(outputs);
    }
    std::int64_t bytes = 0;
    for (const Tensor& held : cache_) bytes += held.bytes();
    return bytes;
  }

 private:
  Dims prompt() const { return {generation_.batch, generation_.prompt_tokens}; }

  /// The tensors that generate() makes before the first forward pass.
  void prepare() {
    given_ids_ = input_ids_ = full(run_, prompt(), Dtype::int64);
    attention_mask_ = full(run_, prompt(), Dtype::int64);
    prepare_special_tokens();
    if (generation_.has_position_ids) {
      Tensor counted = sub_scalar(cumsum(attention_mask_, -1));
      Tensor is_padding = compare("aten::eq", attention_mask_);
      given_positions_ = position_ids_ = masked_fill(counted, std::move(is_padding));
    }
    read_any("aten::eq", "aten::all", attention_mask_);  // a mask of ones is left out from here
    read_any("aten::lt", "aten::any", input_ids_);
    unfinished_ = full(run_, {generation_.batch}, Dtype::int64);
  }

  /// GenerationMixin._prepare_special_tokens, and whether the prompt ends with one that pads.
  void prepare_special_tokens() {
    if (generation_.has_bos) bos_token_ = full(run_, {}, Dtype::int64);
    if (generation_.eos_tokens > 0) eos_token_ = full(run_, {generation_.eos_tokens}, Dtype::int64);
    if (generation_.has_pad) pad_token_ = full(run_, {}, Dtype::int64);
    if (eos_token_) {
      any_or_all("aten::any", isin(eos_token_, generation_.has_pad ? pad_token_ : select(eos_token_, 0, 0)));
      read_any("aten::lt", "aten::any", eos_token_);
    }
    if (generation_.batch > 1 && (eos_token_ || pad_token_)) read_any("aten::eq", "aten::any", last_tokens());
  }

  ModelOutputs prefill() {
    Batch batch;
    batch.input_ids = clone(input_ids_);
    batch.position_ids = position_ids_;
    return model_.forward(batch);
  }

  ModelOutputs decode(std::int64_t tokens) {
    Batch batch;
    batch.input_ids = clone(last_of(input_ids_));
    if (generation_.has_position_ids) batch.position_ids = clone(last_of(position_ids_));
    model_inputs_ = std::move(batch);
    return model_.decode(model_inputs_, tokens, std::exchange(cache_, {}));
  }

  Tensor last_tokens() const { return select(input_ids_, 1, input_ids_.size(1) - 1); }

  static Tensor last_of(const Tensor& rows) { return slice(rows, 1, rows.size(1) - 1, rows.size(1)); }

  /// The most likely token of each sample, behind a forward pass.
  void take_token(ModelOutputs& outputs) {
    cache_ = std::move(outputs.cache);
    if (generation_.has_position_ids) {
      Tensor next = add_scalar(add(arange(run_, 1), last_of(position_ids_)));
      position_ids_ = cat({position_ids_, std::move(next)}, -1);
    }
    logits_ = in_float32(select(outputs.held.at(0), 1, 0));
    scores_ = generation_.penalizes_repetition ? penalize_repetition() : logits_;
    next_tokens_ = argmax(scores_);
    if (eos_token_) {
      Tensor kept = mul(next_tokens_, unfinished_);
      Tensor padding = mul_scalar(rsub(unfinished_));
      next_tokens_ = add(std::move(kept), std::move(padding));
    }
    input_ids_ = cat({input_ids_, view(next_tokens_, {generation_.batch, 1})}, -1);
    Tensor goes_on = bitwise("aten::bitwise_not", is_done());
    unfinished_ = bitwise("aten::__and__", unfinished_, std::move(goes_on));
    compare("aten::eq", max(unfinished_));
    outputs = {};
  }

  /// transformers: generation/logits_process.py, RepetitionPenaltyLogitsProcessor.__call__ (5.24.0)
  Tensor penalize_repetition() const {
    const Tensor ids = clamp(input_ids_);
    const Tensor padded = pad(logits_, {0, 1});
    Tensor score = gather(padded, 1, ids);
    Tensor is_negative = compare("aten::lt", score);
    Tensor lower = mul_scalar(score);
    Tensor higher = div_scalar(score);
    score = where(std::move(is_negative), std::move(lower), std::move(higher));
    const Tensor penalized = scatter(padded, 1, ids, score);
    return slice(penalized, 1, 0, logits_.size(1));
  }

  /// StoppingCriteriaList of MaxLengthCriteria and EosTokenCriteria.
  Tensor is_done() {
    const Dims rows{generation_.batch};
    Tensor done = full(run_, rows, Dtype::boolean);
    done = bitwise("aten::__or__", done, full(run_, rows, Dtype::boolean));
    if (!eos_token_) return done;
    Tensor ended = any_in_rows(isin(last_tokens(), eos_token_));
    return bitwise("aten::__or__", std::move(done), std::move(ended));
  }

  Run& run_;
  Model& model_;
  const Generation generation_;
  const GenerationObserver& observer_;
  Tensor given_ids_, given_positions_;  // of who called: alive until the end
  Tensor input_ids_, attention_mask_, position_ids_, unfinished_;
  Tensor bos_token_, eos_token_, pad_token_;
  Tensor logits_, scores_, next_tokens_;
  Batch model_inputs_;  // of a new token, until those of the next are made
  std::vector<Tensor> cache_;
};

}  // namespace

std::int64_t generate_greedily(Run& run, Model& model, const Generation& generation,
                               const GenerationObserver& observer) {
  const NoGrad no_grad(run);
  return Greedy(run, model, generation, observer).generate();
}

}  // namespace tidemark
