#include "host_pages.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

namespace tidemark {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

bool is_zero(const std::byte* begin, std::size_t bytes) {
  return bytes == 0 || (*begin == std::byte{0} && std::memcmp(begin, begin + 1, bytes - 1) == 0);
}

/// /proc/self/pagemap: 64 bits for each page, of which 63 and 62 say that it is in memory or swapped out
/// (Documentation/admin-guide/mm/pagemap.rst). Opened anew each time: a file that was opened before a fork goes on
/// telling of the parent.
class PageMap {
 public:
  PageMap() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~PageMap() {
    if (file_ >= 0) close(file_);
  }
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  static constexpr std::size_t kMost = 4096;

  /// For pages from number `first` on, whether each was given; of `count`, which is at most kMost.  False where the
  /// kernel does not say.
  bool read(std::size_t first, std::size_t count, bool* given) {
    const std::size_t wanted = count * sizeof(std::uint64_t);
    if (pread(file_, entries_.data(), wanted, static_cast<off_t>(first * sizeof(std::uint64_t))) !=
        static_cast<ssize_t>(wanted))
      return false;
    for (std::size_t i = 0; i < count; ++i) given[i] = (entries_[i] >> 62) != 0;
    return true;
  }

 private:
  int file_;
  std::array<std::uint64_t, kMost> entries_;
};

/// One run after another, joined where they touch.
class Runs {
 public:
  explicit Runs(const std::function<void(std::size_t, std::size_t)>& visit) : visit_(visit) {}
  ~Runs() { end(); }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;
  void add(std::size_t first, std::size_t last) {
    if (last_ != first) end(), first_ = first;
    last_ = last;
  }

 private:
  void end() {
    if (last_ > first_) visit_(first_, last_);
    first_ = last_ = 0;
  }
  const std::function<void(std::size_t, std::size_t)>& visit_;
  std::size_t first_ = 0, last_ = 0;
};

}  // namespace

void* HostPages::take(std::size_t bytes) {
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  madvise(start, bytes, MADV_NOHUGEPAGE);  // one number that is written must cost 4 KiB, not 2 MiB
  const std::lock_guard lock(mutex_);
  taken_[address_of(start)] = address_of(start) + bytes;
  return start;
}

bool HostPages::give_back(void* start) {
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = taken_.find(address_of(start));
    if (found == taken_.end()) return false;
    bytes = found->second - found->first;
    cut(found->first, found->second);
    taken_.erase(found);
  }
  munmap(start, bytes);
  return true;
}

bool HostPages::owns(const void* pointer, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  auto after = taken_.upper_bound(address_of(pointer));
  return after != taken_.begin() && address_of(pointer) + bytes <= std::prev(after)->second;
}

/// Takes a range out of the unknown ones.
void HostPages::cut(std::uintptr_t begin, std::uintptr_t end) {
  auto it = unknown_.upper_bound(begin);
  if (it != unknown_.begin()) --it;
  while (it != unknown_.end() && it->first < end) {
    const auto [from, to] = *it;
    if (to <= begin) {
      ++it;
      continue;
    }
    it = unknown_.erase(it);
    if (from < begin) unknown_.emplace(from, begin);
    if (to > end) unknown_.emplace(end, to);
  }
}

void HostPages::mark_unknown(const void* pointer, std::size_t bytes) {
  std::uintptr_t begin = address_of(pointer), end = begin + bytes;
  if (!owns(pointer, bytes)) return;
  const std::lock_guard lock(mutex_);
  cut(begin, end);
  auto after = unknown_.lower_bound(end);
  if (after != unknown_.end() && after->first == end) end = after->second, after = unknown_.erase(after);
  if (after != unknown_.begin() && std::prev(after)->second == begin)
    std::prev(after)->second = end;
  else
    unknown_.emplace(begin, end);
}

void HostPages::mark_known(const void* pointer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!unknown_.empty()) cut(address_of(pointer), address_of(pointer) + bytes);
}

bool HostPages::is_unknown(const void* pointer, std::size_t bytes) const {
  {
    const std::lock_guard lock(mutex_);
    auto after = unknown_.upper_bound(address_of(pointer));
    if (after == unknown_.begin() || address_of(pointer) + bytes > std::prev(after)->second) return false;
  }
  bool written = false;
  visit_written(pointer, bytes, /*anonymous=*/true, [&](std::size_t, std::size_t) { written = true; });
  return !written;
}

HostPages& host_pages() {
  static auto* all = [] {  // never destroyed: tensors are freed after static destructors have run
    auto* made = new HostPages;
    pthread_atfork([] { host_pages().before_fork(); }, [] { host_pages().after_fork(); },
                   [] { host_pages().after_fork(); });
    return made;
  }();
  return *all;
}

void visit_written(const void* pointer, std::size_t bytes, bool anonymous,
                   const std::function<void(std::size_t, std::size_t)>& visit) {
  const auto* begin = static_cast<const std::byte*>(pointer);
  const std::size_t page = page_bytes(), start = address_of(pointer), end = start + bytes;
  PageMap map;
  std::array<bool, PageMap::kMost> given;
  Runs runs(visit);
  for (std::size_t at = start / page; at * page < end; at += PageMap::kMost) {
    const std::size_t count = std::min(PageMap::kMost, (end - at * page + page - 1) / page);
    if (!anonymous || !map.read(at, count, given.data())) std::fill_n(given.begin(), count, true);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = std::max(start, (at + i) * page) - start,
                        last = std::min(end, (at + i + 1) * page) - start;
      if (given[i] && !is_zero(begin + first, last - first)) runs.add(first, last);
    }
  }
}

bool none_is_given(const void* pointer, std::size_t bytes) {
  const std::size_t page = page_bytes(), end = (address_of(pointer) + bytes) / page;
  PageMap map;
  std::array<bool, PageMap::kMost> given;
  for (std::size_t at = (address_of(pointer) + page - 1) / page; at < end; at += PageMap::kMost) {
    const std::size_t count = std::min(PageMap::kMost, end - at);
    if (!map.read(at, count, given.data()) ||
        std::find(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(count), true) !=
            given.begin() + static_cast<std::ptrdiff_t>(count))
      return false;
  }
  return true;
}

}  // namespace tidemark

using tidemark::host_pages;

void* tidemark_take_host_pages(std::size_t bytes) { return host_pages().take(bytes); }
bool tidemark_give_back_host_pages(void* start) { return host_pages().give_back(start); }
bool tidemark_owns_host_pages(const void* pointer, std::size_t bytes) { return host_pages().owns(pointer, bytes); }
void tidemark_mark_unknown(const void* pointer, std::size_t bytes) { host_pages().mark_unknown(pointer, bytes); }
void tidemark_mark_known(const void* pointer, std::size_t bytes) { host_pages().mark_known(pointer, bytes); }
bool tidemark_is_unknown(const void* pointer, std::size_t bytes) { return host_pages().is_unknown(pointer, bytes); }
void tidemark_visit_written(const void* pointer, std::size_t bytes, void (*visit)(void*, std::size_t, std::size_t),
                            void* context) {
  tidemark::visit_written(pointer, bytes, host_pages().owns(pointer, bytes),
                          [&](std::size_t first, std::size_t last) { visit(context, first, last); });
}
bool tidemark_none_is_given(const void* pointer, std::size_t bytes) { return tidemark::none_is_given(pointer, bytes); }
