#include "parallel/zero_init.h"

#include <algorithm>

#include "parallel/zero3_parameters.h"
#include "parallel/zero_init_buffers.h"

namespace tidemark {
namespace {

class Maker {
 public:
  Maker(Run& run, ParameterStore& store, const ZeroInitOptions& how)
      : run_(run), store_(store), how_(how), nothing_(empty(run, Dims{0}, Dtype::bf16)) {}

  void make(Module& root) {
    place(root);
    root.to_device(run_);  // which has nothing left to copy
    construct(root);
    fill(root);
    tie();
  }

 private:
  /// A tensor without memory for each.
  void place(Module& module) {
    for (const std::shared_ptr<Parameter>& parameter : module.parameters()) {
      if (parameter->tensor) continue;
      if (!parameter->is_buffer) parameter->dtype = Dtype::bf16;
      parameter->tensor = without_memory(parameter->sizes);
      parameter->tensor.impl().requires_grad = !parameter->is_buffer && parameter->trains;
    }
    for (const std::unique_ptr<Module>& child : module.children()) place(*child);
  }

  Tensor without_memory(const Dims& sizes) const {
    return sole_view(view_of(nothing_, {sizes, contiguous_strides(sizes)}));
  }

  /// Module.__init__, behind which zero.Init cuts what the module has of its own.  What it makes before its children
  /// stays whole till then.
  void construct(Module& module) {
    Zero3Parameters& own = own_[&module];
    {
      const InModule scope(run_, module);
      for (const std::shared_ptr<Parameter>& parameter : module.parameters())
        if (!parameter->is_buffer) own.push_back(&made(*parameter));
    }
    for (const std::unique_ptr<Module>& child : module.children()) construct(*child);
    const InModule scope(run_, module);
    make_buffers(run_, module, how_.rope_type);
    for (Zero3Parameter* parameter : own) store_.cut(*parameter);
  }

  /// What is tied is another one's in the end, but has been made by itself.
  Zero3Parameter& made(Parameter& parameter) {
    if (!store_.find(parameter.tensor)) return store_.make(parameter.tensor);
    tied_.push_back(&store_.make(without_memory(parameter.sizes)));
    return *tied_.back();
  }

  /// from_pretrained: _load_state_dict_into_zero3_model; from_config: initialize_weights_zero3.
  void fill(Module& module) {
    if (!how_.from_config) fill_own(module);
    for (const std::unique_ptr<Module>& child : module.children()) fill(*child);
    if (how_.from_config) fill_own(module);
  }

  /// GatheredParameters.  A file has what is tied once.
  void fill_own(const Module& module) {
    Zero3Parameters own = own_.at(&module);
    if (!how_.from_config)
      std::erase_if(own,
                    [&](Zero3Parameter* one) { return std::find(tied_.begin(), tied_.end(), one) != tied_.end(); });
    if (own.empty()) return;
    store_.gather(own);
    for (Zero3Parameter* parameter : own) store_.partition(*parameter);
  }

  /// tie_weights
  void tie() {
    for (Zero3Parameter* parameter : tied_) parameter->part.reset();
  }

  Run& run_;
  ParameterStore& store_;
  const ZeroInitOptions& how_;
  const Tensor nothing_;
  std::unordered_map<const Module*, Zero3Parameters> own_;
  Zero3Parameters tied_;
};

}  // namespace

std::shared_ptr<ParameterStore> make_in_parts(Run& run, Module& root, const Zero3Options& options,
                                              const ZeroInitOptions& how) {
  const Setting<Category> category(run.category, Category::parameters);
  const NoGrad no_grad(run);
  auto store = std::make_shared<ParameterStore>(run, options);
  Maker(run, *store, how).make(root);
  return store;
}

}  // namespace tidemark
