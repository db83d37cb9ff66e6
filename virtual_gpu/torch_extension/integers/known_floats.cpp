#include "known_floats.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace tidemark {
namespace {

constexpr std::size_t kSmallBytes = 4096;  // of the memory that a tensor lies in

/// Storages whose floats are known.  A storage that has died is not held, and one that comes in its place is another.
class KnownStorages {
 public:
  bool is_empty() const { return count_ == 0; }
  bool has(const at::Tensor& tensor) {
    const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(storage);
    return found != known_.end() && found->second.use_count() > 0;
  }
  void add(const at::Tensor& tensor) {
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) std::erase_if(known_, [](const auto& one) { return one.second.use_count() == 0; });
    if (known_.size() >= kMost) known_.clear();
    known_.insert_or_assign(tensor.storage().unsafeGetStorageImpl(), tensor.storage().getWeakStorageImpl());
    count_ = known_.size();
  }
  void forget(const at::Tensor& tensor) {
    const std::lock_guard lock(mutex_);
    known_.erase(tensor.storage().unsafeGetStorageImpl());
    count_ = known_.size();
  }

 private:
  static constexpr std::size_t kMost = 1024;
  std::mutex mutex_;
  std::unordered_map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>> known_;
  std::atomic<std::size_t> count_ = 0;
};

KnownStorages& known_storages() {
  static auto* storages = new KnownStorages;  // tensors die after static objects do
  return *storages;
}

bool is_small_float(const at::Tensor& tensor) {
  return tensor.is_cuda() && is_plain(tensor) && c10::isFloatingType(tensor.scalar_type()) &&
         tensor.storage().nbytes() <= kSmallBytes;
}

}  // namespace

bool is_known_float(const at::Tensor& tensor) {
  return !known_storages().is_empty() && is_small_float(tensor) && known_storages().has(tensor);
}

void forget_floats(const OpPlan& plan, const Arguments& arguments) {
  if (known_storages().is_empty()) return;
  for (const std::size_t position : plan.written)
    for_each_tensor(arguments[position], [](const at::Tensor& tensor) {
      if (is_small_float(tensor)) known_storages().forget(tensor);
    });
}

bool gives_known_floats(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack,
                        std::size_t first_result) {
  if (plan.draws) return false;
  bool gives = false;
  for (const std::size_t position : plan.written)
    for_each_tensor(arguments[position], [&](const at::Tensor& tensor) { gives |= is_known_float(tensor); });
  if (plan.returns_fresh)
    for (std::size_t i = first_result; i < stack.size(); ++i)
      for_each_tensor(stack[i], [&](const at::Tensor& tensor) { gives |= is_small_float(tensor); });
  return gives;
}

void store_floats(const c10::IValue& result, const c10::IValue& host_result) {
  if (!result.isTensor() || !host_result.isTensor()) return;
  const at::Tensor &target = result.toTensor(), &source = host_result.toTensor();
  if (!target.defined() || !source.defined() || !is_small_float(target) || target.sizes() != source.sizes()) return;
  at::Tensor alias = host_alias(target);
  if (alias.data_ptr() != source.data_ptr()) alias.copy_(source);
  known_storages().add(target);
}

}  // namespace tidemark
