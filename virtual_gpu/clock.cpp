#include "clock.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tidemark {
namespace {

constexpr Nanoseconds kQuestion = 1'000;  // one cudaEventQuery: a microsecond, the order of a call into the driver
constexpr int kPatience =
    1'000;  // questions in a row, with nothing queued between, after which a thread is taken to poll
constexpr int kDoublings = 40;  // … and each further one takes twice as long, up to minutes

/// What one thread did on its own since it last queued work or waited.  It is ahead of the others by the time that its
/// questions took, and they do not notice: a thread that only asks (data loaders, watchdogs) must not move the clock of
/// the one that trains.
struct Asking {
  std::uint64_t clock = 0;
  Nanoseconds ahead = 0;
  int in_vain = 0;
};
thread_local Asking asking;

Asking& asking_of(std::uint64_t clock) {
  if (asking.clock != clock) asking = {clock};
  return asking;
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

const void* handle(std::uintptr_t value) { return reinterpret_cast<const void*>(value); }
const void* const kLegacyStream = handle(1);

/// 0 and cudaStreamLegacy are one stream.
const void* canonical(const void* stream) { return stream ? stream : kLegacyStream; }

}  // namespace

Clock::Clock(EventOrder order) : order_(order), number_(next_number()) {}

void Clock::Moment::join(const Moment& other) {
  time = std::max(time, other.time);
  if (work.size() < other.work.size()) work.resize(other.work.size());
  for (std::size_t i = 0; i < other.work.size(); ++i) work[i] = std::max(work[i], other.work[i]);
}

bool Clock::Moment::within(const Moment& other) const {
  for (std::size_t i = 0; i < work.size(); ++i)
    if (work[i] > (i < other.work.size() ? other.work[i] : 0)) return false;
  return true;
}

/// cudaStreamPerThread is a stream of its own, and a blocking one; one for all threads does.
Clock::Stream& Clock::at(const void* stream) {
  const auto found = streams_.find(stream);
  if (found != streams_.end()) return found->second;
  if (stream == handle(2)) blocking_.push_back(stream);
  return streams_.emplace(stream, Stream{{}, streams_.size()}).first->second;
}

/// CUDA C++ Programming Guide, "Default Stream": the legacy stream waits for all blocking streams, and they for it.
void Clock::join_default_stream(const void* which, Stream& stream) {
  if (blocking_.empty()) return;
  if (which == kLegacyStream) {
    for (const void* other : blocking_) stream.end.join(at(other).end);
  } else if (std::find(blocking_.begin(), blocking_.end(), which) != blocking_.end()) {
    stream.end.join(at(kLegacyStream).end);
  }
}

/// The time of the calling thread, which from here on is everybody's.
Nanoseconds Clock::now() {
  Asking& own = asking_of(number_);
  host_ += own.ahead;
  own = {number_};
  return host_;
}

void Clock::host_works(Nanoseconds cost) {
  const std::lock_guard lock(mutex_);
  host_ = now() + cost;
}

Nanoseconds Clock::host_time() {
  const std::lock_guard lock(mutex_);
  return host_ + asking_of(number_).ahead;
}

void Clock::add_blocking_stream(const void* stream) {
  const std::lock_guard lock(mutex_);
  blocking_.push_back(stream);
}

/// Its number stays taken: events may still count its work.
void Clock::forget_stream(const void* stream) {
  const std::lock_guard lock(mutex_);
  blocking_.erase(std::remove(blocking_.begin(), blocking_.end(), stream), blocking_.end());
}

void Clock::forget_event(const void* event) {
  const std::lock_guard lock(mutex_);
  events_.erase(event);
}

void Clock::queue(const void* stream, Nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  const void* const which = canonical(stream);
  Stream& s = at(which);
  join_default_stream(which, s);
  s.end.time = std::max(s.end.time, now()) + duration;
  if (s.end.work.size() <= s.number) s.end.work.resize(s.number + 1);
  ++s.end.work[s.number];
}

void Clock::prolong(const void* stream, Nanoseconds more) {
  const std::lock_guard lock(mutex_);
  at(canonical(stream)).end.time += more;
}

void Clock::record(const void* event, const void* stream) {
  const std::lock_guard lock(mutex_);
  const void* const which = canonical(stream);
  Stream& s = at(which);
  join_default_stream(which, s);
  events_[event] = s.end;
}

void Clock::wait(const void* stream, const void* event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found != events_.end()) at(canonical(stream)).end.join(found->second);
}

bool Clock::done(const Moment& moment) {
  switch (order_) {
    case EventOrder::instant: return true;
    case EventOrder::clock: return moment.time <= host_ + asking_of(number_).ahead;
    case EventOrder::late: return moment.within(waited_);
  }
  return true;
}

bool Clock::answer(const Moment& moment) {
  Asking& own = asking_of(number_);
  ++answers_.asked;
  own.ahead += kQuestion << std::clamp(own.in_vain - kPatience, 0, kDoublings);
  if (done(moment)) return true;
  ++answers_.not_ready;
  if (++own.in_vain > kPatience && order_ == EventOrder::late) wait_for(moment);
  return false;
}

bool Clock::ask_event(const void* event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  return found == events_.end() || answer(found->second);
}

bool Clock::ask_stream(const void* stream) {
  const std::lock_guard lock(mutex_);
  return answer(at(canonical(stream)).end);
}

bool Clock::event_is_done(const void* event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  return found == events_.end() || done(found->second);
}

void Clock::wait_for(const Moment& moment) {
  host_ = std::max(now(), moment.time);
  waited_.join(moment);
}

void Clock::synchronize_event(const void* event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found != events_.end()) wait_for(found->second);
}

void Clock::synchronize_stream(const void* stream) {
  const std::lock_guard lock(mutex_);
  const void* const which = canonical(stream);
  Stream& s = at(which);
  join_default_stream(which, s);
  wait_for(s.end);
}

void Clock::synchronize_device() {
  const std::lock_guard lock(mutex_);
  for (const auto& [_, stream] : streams_) wait_for(stream.end);
}

Clock::Answers Clock::answers() {
  const std::lock_guard lock(mutex_);
  return answers_;
}

std::vector<const void*> Clock::streams() {
  const std::lock_guard lock(mutex_);
  std::vector<const void*> handles;
  for (const auto& [stream, _] : streams_) handles.push_back(stream == kLegacyStream ? nullptr : stream);
  std::sort(handles.begin(), handles.end());
  return handles;
}

std::uint64_t Clock::work_queued(const void* stream) {
  const std::lock_guard lock(mutex_);
  const Stream& s = at(canonical(stream));
  return s.number < s.end.work.size() ? s.end.work[s.number] : 0;
}

}  // namespace tidemark
