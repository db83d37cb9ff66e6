#include "tensor/run.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/error.h"
#include "tensor/kernel.h"

namespace tidemark {
namespace {

constexpr StreamId kMostStreams = 32;  // by bits of LedgerEntry::used_on

}  // namespace

Run::Run(RunConfig config) : config_(std::move(config)), allocator_(config_.allocator) {
  constexpr std::size_t kUsualEvents = std::size_t{1} << 16;  // growing would copy them over and over
  history_.reserve(kUsualEvents);
  ledger_.reserve(kUsualEvents / 2);
}

Run::~Run() {
  in_flight_.clear();
  autocast.weights.clear();
  for (Ref<Storage>& workspace : matmul_workspaces) workspace.reset();
  for (Ref<Storage>& workspace : fused_bias_workspaces) workspace.reset();
}

std::uint32_t Run::name_module(std::string name) {
  module_names_.push_back(std::move(name));
  return static_cast<std::uint32_t>(module_names_.size() - 1);
}

void Run::prefix_modules(std::uint32_t root, std::string child) {
  wrappers_.push_back({root, std::move(child), module_names_.size()});
}

std::string Run::module_name(std::uint32_t number) const {
  std::string name = module_names_[number];
  for (const Wrapper& wrapper : wrappers_)
    if (number != 0 && number < wrapper.end) name = number == wrapper.root ? wrapper.child : wrapper.child + "." + name;
  return name;
}

AllocationId Run::request(std::int64_t bytes, StreamId on, bool in_repetition) {
  const AllocationId id = allocator_.alloc(bytes, on);
  if (id != kOutOfMemory) return id;
  const OutOfMemory& full = *allocator_.out_of_memory();
  throw DeviceOutOfMemory{bytes, full.device_total_bytes - full.device_free_bytes, allocator_.out_of_memory_message(),
                          fmt::format("{} {}", op, module_name(module)), in_repetition};
}

void Run::refuse_more_events() const {
  throw Error(Errc::bad_value, "the training makes more than 2^25 allocations and frees", "steps",
              "from the third step on nothing is new: lower steps, or grad_accumulation");
}

void Run::tell(char sign, std::int64_t bytes, const char* by, std::uint32_t in) const {
  config_.on_event(fmt::format("{}{} {} {}", sign, bytes, by, module_name(in)));
}

Work* Run::counted() const {
  if (kernel && kernel->is_handed_out()) return nullptr;
  return work && !on_host && !(checkpoint && checkpoint->is_complete(beginning.number)) ? work : nullptr;
}

Ref<Storage> Run::allocate(std::int64_t bytes) {
  if (kernel && kernel->is_handed_out()) return kernel->hand_out();
  Ref<Storage> storage(storages.make());
  storage->run = this;
  if (on_host || (checkpoint && checkpoint->is_complete(beginning.number))) return storage;
  fill(*storage, bytes);
  if (kernel) kernel->note(*storage);
  return storage;
}

void Run::fill(Storage& storage, std::int64_t bytes) {
  storage.id = request(bytes, stream);
  if (storage.id == kNoBytes) return;
  if (work && category != Category::workspace) work->written(computes_backward()) += static_cast<double>(bytes);
  storage.record = static_cast<std::uint32_t>(ledger_.size());
  note_allocation({.bytes = allocator_.block_bytes(storage.id),
                   .requested_bytes = bytes,
                   .module = module,
                   .id = storage.id,
                   .op = op,
                   .stream = stream,
                   .category = category},
                  allocator_.totals());
  ledger_.back().storage = &storage;
}

void Run::resize(Storage& storage, std::int64_t bytes) {
  ++side_effects;
  Storage before = storage;
  fill(storage, bytes);
  free(before);
}

void Run::free(Storage& storage) {
  if (storage.id == kNoBytes || ended_) return;
  ledger_[storage.record].storage = nullptr;
  const Repetition::Twin last = repetition.twin_of(storage.record);
  allocator_.free(last.id);
  note_free(last.entry, allocator_.totals());
}

void Run::finish_collective(const Tensor& result) {
  const Storage* storage = result.impl().storage.get();
  std::erase_if(in_flight_, [&](const auto& entry) { return entry.first == storage; });
}

void Run::empty_cache() {
  ++side_effects;
  allocator_.empty_cache();
  history_.push_back(0);
}

void Run::take_from_device(std::int64_t bytes) {
  TM_CHECK(taken_.bytes == 0, "libraries take what they need once");
  allocator_.take_from_device(bytes);
  taken_ = {history_.size(), bytes};
}

void Run::record_stream(const Storage& storage, StreamId used_on) {
  TM_CHECK(used_on < kMostStreams, "a stream of its number is not known");
  ++side_effects;
  if (storage.id == kNoBytes || ledger_[storage.record].stream == used_on) return;
  ledger_[storage.record].used_on |= std::uint32_t{1} << used_on;
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

Tensor empty(Run& run, const Layout& layout, Dtype dtype) {
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

Dims Tensor::whole_sizes() const {
  Dims sizes = this->sizes();
  if (impl_->split >= 0) sizes[impl_->split] *= impl_->parts;
  return sizes;
}

Tensor alias(const Tensor& tensor) {
  Run& run = tensor.run();
  TensorImpl* impl = run.tensors.make();
  Tensor result(impl);
  impl->run = &run;
  impl->layout = tensor.layout();
  impl->dtype = tensor.dtype();
  impl->storage = tensor.impl().storage;
  impl->distributed = tensor.impl().distributed;
  return result;
}

Tensor view_of(const Tensor& tensor, const Layout& layout) {
  Tensor result = alias(tensor);
  result.impl().layout = layout;
  result.impl().base = tensor.impl().base ? tensor.impl().base : tensor;
  return result;
}

}  // namespace tidemark
