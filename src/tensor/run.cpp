#include "tensor/run.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace tidemark {

Run::Run(RunConfig config) : config_(std::move(config)), allocator_(config_.allocator) {}

Run::~Run() {
  autocast.weights.clear();
  for (Ref<Storage>& workspace : matmul_workspaces) workspace.reset();
  for (Ref<Storage>& workspace : fused_bias_workspaces) workspace.reset();
}

std::uint32_t Run::name_module(std::string name) {
  module_names_.push_back(std::move(name));
  return static_cast<std::uint32_t>(module_names_.size() - 1);
}

Ref<Storage> Run::allocate(std::int64_t bytes) {
  Ref<Storage> storage(storages.make());
  storage->run = this;
  storage->id = allocator_.alloc(bytes, 0);
  if (storage->id == kOutOfMemory) {
    storage->id = kNoBytes;
    throw DeviceOutOfMemory{bytes, allocator_.out_of_memory_message()};
  }
  if (storage->id == kNoBytes) return storage;
  timeline_.add(allocator_.totals());
  storage->record = static_cast<std::uint32_t>(ledger_.size());
  ledger_.push_back({allocator_.block_bytes(storage->id), bytes, static_cast<std::int32_t>(timeline_.events()), 0, module, op,
                     category});
  if (config_.on_event) config_.on_event(fmt::format("+{} {} {}", ledger_.back().bytes, op, module_names_[module]));
  return storage;
}

void Run::free(Storage& storage) {
  if (storage.id == kNoBytes) return;
  allocator_.free(storage.id);
  timeline_.add(allocator_.totals());
  ledger_[storage.record].died = static_cast<std::int32_t>(timeline_.events());
  if (config_.on_event)
    config_.on_event(fmt::format("-{} {} {}", ledger_[storage.record].bytes, op, module_names_[module]));
}

void Storage::destroy(Storage* storage) {
  Run& run = *storage->run;
  run.free(*storage);
  run.storages.destroy(storage);
}

void TensorImpl::destroy(TensorImpl* impl) {
  Run& run = *impl->run;
  run.tensors.destroy(impl);
}

Tensor empty(Run& run, Layout layout, Dtype dtype) {
  TensorImpl* impl = run.tensors.make();
  Tensor tensor(impl);
  impl->run = &run;
  impl->layout = layout;
  impl->dtype = dtype;
  impl->storage = run.allocate(checked_multiply(layout.elements(), size_of(dtype)));
  return tensor;
}

Tensor empty(Run& run, const Dims& sizes, Dtype dtype) {
  return empty(run, Layout{sizes, contiguous_strides(sizes)}, dtype);
}

Tensor empty_like(const Tensor& tensor) { return empty_like(tensor, tensor.dtype()); }

Tensor empty_like(const Tensor& tensor, Dtype dtype) { return empty(tensor.run(), like(tensor.layout()), dtype); }

Tensor alias(const Tensor& tensor) {
  Run& run = tensor.run();
  TensorImpl* impl = run.tensors.make();
  Tensor result(impl);
  impl->run = &run;
  impl->layout = tensor.layout();
  impl->dtype = tensor.dtype();
  impl->storage = tensor.impl().storage;
  return result;
}

Tensor view_of(const Tensor& tensor, const Layout& layout) {
  Tensor result = alias(tensor);
  result.impl().layout = layout;
  result.impl().base = tensor.impl().base ? tensor.impl().base : tensor;
  return result;
}

}  // namespace tidemark
