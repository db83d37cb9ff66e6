// The caching allocator written to be obviously right: every segment is a list of pieces, every choice a search over
// all of them. Default settings and max_split_size_mb, streams without record_stream, a card that can be full.
#pragma once
#include <list>
#include <tuple>

#include "memory/driver_memory.h"
#include "memory/size_classes.h"

namespace tidemark {

class NaiveAllocator {
 public:
  NaiveAllocator(const AllocatorSettings& settings, const DriverMemoryConfig& device)
      : settings_(settings), driver_(device) {}

  /// The address, or nothing.
  std::optional<std::int64_t> alloc(std::int64_t requested_bytes, StreamId stream) {
    const std::int64_t bytes = round_size(requested_bytes, settings_);
    const bool small = bytes <= kSmallBytes;
    if (!best(bytes, stream, small)) add_segment(bytes, stream, small);
    const auto found = last_;
    if (!found) return std::nullopt;
    auto [segment, piece] = *found;
    const std::int64_t remaining = piece->bytes - bytes;
    if (small ? remaining >= 512 : bytes < settings_.max_split_bytes && remaining > (1 << 20)) {
      segment->pieces.insert(std::next(piece), Piece{piece->address + bytes, remaining, true});
      piece->bytes = bytes;
    }
    piece->free = false;
    return piece->address;
  }

  void free(std::int64_t address) {
    for (Segment& segment : segments_)
      for (auto piece = segment.pieces.begin(); piece != segment.pieces.end(); ++piece)
        if (piece->address == address && !piece->free) {
          piece->free = true;
          const auto next = std::next(piece);
          if (next != segment.pieces.end() && next->free) piece->bytes += next->bytes, segment.pieces.erase(next);
          if (piece != segment.pieces.begin() && std::prev(piece)->free) {
            std::prev(piece)->bytes += piece->bytes;
            segment.pieces.erase(piece);
          }
          return;
        }
  }

  void empty_cache() {
    for (auto segment = segments_.begin(); segment != segments_.end();)
      segment = segment->pieces.size() == 1 && segment->pieces.front().free ? release(segment) : std::next(segment);
  }

  std::int64_t reserved_bytes() const {
    std::int64_t sum = 0;
    for (const Segment& segment : segments_) sum += segment.bytes;
    return sum;
  }

 private:
  struct Piece {
    std::int64_t address, bytes;
    bool free;
  };
  struct Segment {
    std::int64_t address, bytes;
    StreamId stream;
    bool small;
    std::list<Piece> pieces;
  };
  using Found = std::pair<std::list<Segment>::iterator, std::list<Piece>::iterator>;

  bool best(std::int64_t bytes, StreamId stream, bool small) {
    last_.reset();
    for (auto segment = segments_.begin(); segment != segments_.end(); ++segment)
      for (auto piece = segment->pieces.begin(); piece != segment->pieces.end(); ++piece) {
        if (segment->stream != stream || segment->small != small || !piece->free || piece->bytes < bytes) continue;
        if (!last_ || std::tie(piece->bytes, piece->address) < std::tie(last_->second->bytes, last_->second->address))
          last_ = Found{segment, piece};
      }
    if (!last_) return false;
    const std::int64_t found = last_->second->bytes;
    const bool oversize = bytes >= settings_.max_split_bytes;
    if (oversize ? found >= bytes + settings_.max_non_split_rounding_bytes : found >= settings_.max_split_bytes)
      last_.reset();
    return last_.has_value();
  }

  void add_segment(std::int64_t bytes, StreamId stream, bool small) {
    const std::int64_t segment_bytes = segment_size(bytes, settings_);
    auto address = driver_.allocate(segment_bytes);
    if (!address && release_oversize(std::max(bytes, settings_.max_split_bytes), stream, small))
      address = driver_.allocate(segment_bytes);
    if (!address) {
      empty_cache();
      address = driver_.allocate(segment_bytes);
    }
    if (!address) return;
    segments_.push_back({*address, segment_bytes, stream, small, {{*address, segment_bytes, true}}});
    last_ = Found{std::prev(segments_.end()), segments_.back().pieces.begin()};
  }

  /// One cached oversize segment of that size, or the largest ones until their sum is enough.
  bool release_oversize(std::int64_t wanted, StreamId stream, bool small) {
    if (settings_.max_split_bytes == AllocatorSettings::kUnlimited) return false;
    std::vector<std::list<Segment>::iterator> oversize;
    for (auto segment = segments_.begin(); segment != segments_.end(); ++segment)
      if (segment->stream == stream && segment->small == small && segment->pieces.front().free &&
          segment->pieces.front().bytes >= settings_.max_split_bytes)
        oversize.push_back(segment);
    std::sort(oversize.begin(), oversize.end(),
              [](auto a, auto b) { return std::tie(a->bytes, a->address) < std::tie(b->bytes, b->address); });
    for (const auto segment : oversize)
      if (segment->bytes >= wanted) return release(segment), true;
    std::int64_t released = 0;
    for (; !oversize.empty() && released < wanted; oversize.pop_back()) {
      released += oversize.back()->bytes;
      release(oversize.back());
    }
    return released >= wanted;
  }

  std::list<Segment>::iterator release(std::list<Segment>::iterator segment) {
    driver_.free(segment->address);
    return segments_.erase(segment);
  }

  const AllocatorSettings settings_;
  DriverMemory driver_;
  std::list<Segment> segments_;
  std::optional<Found> last_;
};

}  // namespace tidemark
