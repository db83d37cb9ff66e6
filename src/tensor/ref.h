// A counted reference to an object of one run, and the pool that such objects come from.  Not thread-safe: a run and
// all that belongs to it stay in one thread.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tidemark {

/// T has a member `std::int32_t references` and a function `static void destroy(T*)`.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_) ++object_->references;
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { reset(); }
  void reset() {
    if (T* object = std::exchange(object_, nullptr); object && --object->references == 0) T::destroy(object);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref&) const = default;

 private:
  T* object_ = nullptr;
};

/// Objects of one type, made and destroyed by the hundred thousand.
template <class T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  T* make() {
    if (unused_.empty()) grow();
    T* place = unused_.back();
    unused_.pop_back();
    return new (place) T;  // not T(): that would fill it with zeros first
  }
  void destroy(T* object) {
    object->~T();
    unused_.push_back(object);
  }

 private:
  struct alignas(T) Place {
    std::byte bytes[sizeof(T)];
  };
  void grow() {
    constexpr std::size_t kObjects = 256;
    chunks_.push_back(std::make_unique_for_overwrite<Place[]>(kObjects));
    for (std::size_t i = kObjects; i > 0; --i) unused_.push_back(reinterpret_cast<T*>(&chunks_.back()[i - 1]));
  }

  std::vector<std::unique_ptr<Place[]>> chunks_;
  std::vector<T*> unused_;
};

}  // namespace tidemark
