// Plain values of which there come to be very many.  A vector copies them into new memory as it grows, and has both for
// that long; realloc moves the pages of what is large (Linux: mremap), so that there is never more than is used.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace tidemark {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  T& back() { return begin()[size_ - 1]; }
  T* begin() { return memory_.get(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return memory_.get(); }
  const T* end() const { return begin() + size_; }

  /// `value` may be one of its own.
  T& push_back(T value) {
    if (size_ == capacity_) reserve(std::max<std::size_t>(16, 2 * capacity_));
    return *new (begin() + size_++) T(value);
  }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    void* const grown = std::realloc(static_cast<void*>(begin()), capacity * sizeof(T));
    if (!grown) throw std::bad_alloc();
    static_cast<void>(memory_.release());
    memory_.reset(static_cast<T*>(grown));
    capacity_ = capacity;
  }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T[], Free> memory_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace tidemark
