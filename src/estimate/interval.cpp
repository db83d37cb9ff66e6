#include "estimate/interval.h"

#include <algorithm>
#include <deque>

namespace tidemark {
namespace {

struct Peaks {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0;
  bool refused = false;
};

/// What could be otherwise on a card of this kind.
struct Circumstances {
  AddressOrder addresses;
  StreamWork stream_work;
  bool operator==(const Circumstances&) const = default;
};

/// What a program asks of streams, where work ends only by being waited for.
class Waits {
 public:
  explicit Waits(const std::vector<StreamCall>& calls) : calls_(calls) {}

  StreamOrder& order() { return order_; }

  /// What was called in front of that event of the history.
  void go_to(std::size_t event) {
    for (; next_ < calls_.size() && calls_[next_].position <= event; ++next_) make(calls_[next_]);
  }

 private:
  void make(const StreamCall& call) {
    std::deque<Moment>& queue = queues_[call.queue];
    switch (call.kind) {
      case StreamCall::Kind::work: return order_.add_work(call.stream);
      case StreamCall::Kind::record: return events_.push_back(order_.now(call.stream));
      case StreamCall::Kind::stream_waits:
        return order_.stream_waits(call.stream, events_[events_.size() - 1 - call.count]);
      case StreamCall::Kind::host_waits: return order_.host_waits(order_.now(call.stream));
      case StreamCall::Kind::host_waits_for_all: return order_.host_waits_for_all();
      case StreamCall::Kind::queue_event: return queue.push_back(order_.now(call.stream));
      case StreamCall::Kind::drop_done:
        while (!queue.empty() && order_.is_done(queue.front())) queue.pop_front();
        return;
      case StreamCall::Kind::wait_for_oldest:
        if (queue.size() < call.count) return;
        order_.host_waits(queue.front());
        queue.pop_front();
    }
  }

  const std::vector<StreamCall>& calls_;
  std::size_t next_ = 0;
  StreamOrder order_;
  std::vector<Moment> events_;
  std::deque<Moment> queues_[StreamCall::kQueues];
};

void note_uses(CachingAllocator& allocator, AllocationId id, std::uint32_t used_on) {
  for (StreamId stream = 0; used_on != 0; ++stream, used_on >>= 1)
    if (used_on & 1) allocator.record_stream(id, stream);
}

/// Up to the first request that does not fit, if there is one.
Peaks replay(const Run& run, const Circumstances& other, AllocatorObserver* observer = nullptr) {
  Waits waits(run.stream_calls.all());
  CachingAllocatorConfig config = run.config().allocator;
  config.device.addresses = other.addresses;
  config.stream_work = other.stream_work;
  if (other.stream_work == StreamWork::unfinished) config.stream_order = &waits.order();
  CachingAllocator allocator(config, observer);
  std::vector<AllocationId> ids(run.ledger().size());
  bool refused = false;
  for (std::size_t i = 0; i < run.history().size() && !refused; ++i) {
    const std::int32_t event = run.history()[i];
    if (config.stream_order) waits.go_to(i);
    if (i == run.taken().position) allocator.take_from_device(run.taken().bytes);
    if (event == 0) {
      allocator.empty_cache();
      continue;
    }
    const auto entry = static_cast<std::size_t>(std::abs(event) - 1);
    const LedgerEntry& asked = run.ledger()[entry];
    if (event < 0) {
      note_uses(allocator, ids[entry], asked.used_on);
      allocator.free(ids[entry]);
      continue;
    }
    ids[entry] = allocator.alloc(asked.requested_bytes, asked.stream);
    if (has_work(asked.op)) waits.order().add_work(asked.stream);
    refused = ids[entry] == kOutOfMemory;
  }
  return {allocator.stats().allocated_bytes.peak, allocator.stats().reserved_bytes.peak, refused};
}

bool uses_other_streams(const Run& run) {
  return std::ranges::any_of(run.ledger(), [](const LedgerEntry& entry) { return entry.used_on != 0; });
}

/// What can be otherwise than it is in a run.
struct Open {
  bool addresses, stream_work;
};

/// Where equal free blocks are told apart by what was made first, their addresses only say which is in front within one
/// segment, wherever that lies (torch since 2.12.1, allocator_rules.h).  Not what expandable segments have not mapped.
Open open_in(const Run& run) {
  const CachingAllocatorConfig& allocator = run.config().allocator;
  return {.addresses = allocator.rules.equal_blocks == EqualBlocks::lowest || allocator.settings.expandable_segments,
          .stream_work = uses_other_streams(run)};
}

std::vector<Circumstances> others_than(const Circumstances& own, const Open& open) {
  std::vector<Circumstances> others;
  for (const AddressOrder addresses : {AddressOrder::ascending, AddressOrder::descending})
    for (const StreamWork work : {StreamWork::finished, StreamWork::unfinished}) {
      const Circumstances other{addresses, work};
      const bool may_be =
          (open.addresses || addresses == own.addresses) && (open.stream_work || work == own.stream_work);
      if (may_be && other != own) others.push_back(other);
    }
  return others;
}

std::string why(const Open& open) {
  std::string reasons;
  if (open.addresses)
    reasons = "equal free blocks are taken by address; the two ends are segments placed upwards and downwards";
  if (open.stream_work)
    reasons += (reasons.empty() ? "memory" : ", and memory") +
               std::string(" that other streams used given back at once or when the program waits for them");
  return reasons;
}

const char* name_of(const Circumstances& other) {
  const bool ascending = other.addresses == AddressOrder::ascending;
  if (other.stream_work == StreamWork::finished) return ascending ? "upwards" : "downwards";
  return ascending ? "upwards and late" : "downwards and late";
}

}  // namespace

std::optional<Interval> interval_of(const Run& run) {
  const Circumstances own{run.config().allocator.device.addresses, StreamWork::finished};
  const Open open = open_in(run);
  const std::int64_t allocated = run.timeline().allocated_peak().totals.allocated_bytes;
  const std::int64_t reserved = run.timeline().reserved_peak_bytes();
  Interval interval{allocated, allocated, reserved, reserved, why(open)};
  bool is_open = false;
  for (const Circumstances& other : others_than(own, open)) {
    const Peaks peaks = replay(run, other);
    is_open |= peaks.refused || peaks.allocated_bytes != allocated || peaks.reserved_bytes != reserved;
    interval.allocated_low_bytes = std::min(interval.allocated_low_bytes, peaks.allocated_bytes);
    interval.allocated_high_bytes = std::max(interval.allocated_high_bytes, peaks.allocated_bytes);
    interval.reserved_low_bytes = std::min(interval.reserved_low_bytes, peaks.reserved_bytes);
    interval.reserved_high_bytes = std::max(interval.reserved_high_bytes, peaks.reserved_bytes);
    if (peaks.refused) interval.why += std::string("; ") + name_of(other) + ": out of memory";
  }
  if (!is_open) return std::nullopt;
  return interval;
}

void replay_late(const Run& run, AllocatorObserver& observer) {
  replay(run, {run.config().allocator.device.addresses, StreamWork::unfinished}, &observer);
}

}  // namespace tidemark
