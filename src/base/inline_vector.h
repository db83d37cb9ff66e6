// A vector whose first N elements need no heap: for the operands, edges and gradients of one operation.
#pragma once
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tidemark {

/// As std::vector, as far as it goes.  Elements move with their vector, so references to them do not outlive a move.
template <class T, std::size_t N>
class InlineVector {
 public:
  InlineVector() = default;
  explicit InlineVector(std::size_t count) { resize(count); }
  /// {first, second}, from left to right.  Not by std::initializer_list, whose elements can only be copied.
  template <class... U>
    requires(sizeof...(U) > 0 && (std::convertible_to<U&&, T> && ...))
  InlineVector(U&&... values) {
    reserve(sizeof...(U));
    (static_cast<void>(new (data_ + size_++) T(std::forward<U>(values))), ...);
  }
  InlineVector(const InlineVector& other) {
    reserve(other.size_);
    for (const T& value : other) push_back(value);
  }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) *this = InlineVector(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      destroy();
      take(other);
    }
    return *this;
  }
  ~InlineVector() { destroy(); }

  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }
  T& back() { return data_[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ * 2);
    new (data_ + size_++) T(std::move(value));
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    while (size_ > 0) pop_back();
  }
  void resize(std::size_t count) {
    reserve(count);
    while (size_ > count) pop_back();
    while (size_ < count) new (data_ + size_++) T();
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    T* larger = std::allocator<T>().allocate(count);
    std::uninitialized_move_n(data_, size_, larger);
    std::destroy_n(data_, size_);
    release();
    data_ = larger;
    capacity_ = count;
  }

 private:
  T* inside() { return reinterpret_cast<T*>(storage_); }
  void release() {
    if (data_ != inside()) std::allocator<T>().deallocate(data_, capacity_);
  }
  void destroy() {
    clear();
    release();
    data_ = inside();
    capacity_ = N;
  }
  void take(InlineVector& other) noexcept {
    if (other.data_ == other.inside()) {
      std::uninitialized_move_n(other.data_, other.size_, inside());
      size_ = other.size_;
      other.clear();
    } else {
      data_ = std::exchange(other.data_, other.inside());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
    }
  }

  alignas(T) std::byte storage_[N * sizeof(T)];
  T* data_ = inside();
  std::size_t size_ = 0, capacity_ = N;
};

}  // namespace tidemark
