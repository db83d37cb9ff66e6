#include "memory/trace.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "base/error.h"
#include "base/number.h"

namespace tidemark {
namespace {

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 60;  // sums of a few of them do not overflow

class RecordingReader {
 public:
  explicit RecordingReader(std::string_view text) : text_(text) {}

  Recording read() {
    read_header();
    while (next_line()) read_event();
    if (!ended_) refuse("the end is missing");
    return std::move(recording_);
  }

 private:
  void read_header() {
    double fraction = 1;
    if (!next_line() || line_ != "tidemark_allocations 1") refuse("not a recording of version 1");
    while (next_line() && line_ != "events") {
      const std::size_t space = std::min(line_.find(' '), line_.size());
      const std::string_view key = line_.substr(0, space), value = line_.substr(std::min(space + 1, line_.size()));
      DriverMemoryConfig& device = recording_.config.device;
      if (key == "torch") {
        recording_.torch = value;
      } else if (key == "settings") {
        recording_.settings = value == "-" ? "" : value;
      } else if (key == "total_bytes") {
        device.total_bytes = number<std::int64_t>(value);
      } else if (key == "unavailable_bytes") {
        device.unavailable_bytes = number<std::int64_t>(value);
      } else if (key == "context_bytes") {
        device.context_bytes = number<std::int64_t>(value);
      } else if (key == "memory_fraction") {
        fraction = number<double>(value);
      } else if (key == "addresses") {
        device.addresses =
            one_of(value, "ascending", "descending") == 0 ? AddressOrder::ascending : AddressOrder::descending;
      } else if (key == "work_on_streams") {
        recording_.config.stream_work =
            one_of(value, "finished", "unfinished") == 0 ? StreamWork::finished : StreamWork::unfinished;
      } else {
        refuse(fmt::format("unknown key \"{}\"", key));
      }
    }
    if (line_ != "events") refuse("no events");
    recording_.config.rules = allocator_rules(recording_.torch);
    recording_.config.settings = parse_allocator_settings(recording_.settings, recording_.config.rules);
    if (fraction != 1) recording_.config.settings.memory_fraction = fraction;
  }

  void read_event() {
    if (ended_) refuse("a line after the end");
    if (line_.substr(0, 2) == "t ") {
      recording_.messages.emplace_back(line_.substr(2));
      return;
    }
    const char letter = line_.empty() ? ' ' : line_[0];
    std::array<std::int64_t, 6> fields{};  // address, bytes, stream, and by how much the totals have changed
    std::size_t count = 0;
    for (std::size_t at = 1; at < line_.size(); ++count) {
      if (line_[at] != ' ' || count == fields.size()) refuse("not an event");
      const std::size_t end = std::min(line_.find(' ', at + 1), line_.size());
      fields[count] = number<std::int64_t>(line_.substr(at + 1, end - at - 1));
      at = end;
    }
    if (count < 3 || fields[2] < 0 || fields[2] >= kMaxStreams) refuse("not an event");
    add_totals(fields);
    add_event(letter, fields[0], fields[1], static_cast<StreamId>(fields[2]));
  }

  void add_totals(const std::array<std::int64_t, 6>& fields) {
    totals_.allocated_bytes += fields[3];
    totals_.reserved_bytes += fields[4];
    totals_.active_bytes += fields[5];
    for (const std::int64_t total : {totals_.allocated_bytes, totals_.reserved_bytes, totals_.active_bytes})
      if (total < 0 || total > kLargestNumber) refuse("the totals do not add up");
  }

  void add_event(char letter, std::int64_t address, std::int64_t bytes, StreamId stream) {
    const auto add = [&](EventKind kind) { recording_.events.push_back({kind, address, bytes, stream, totals_}); };
    switch (letter) {
      case 'a':
        if (bytes <= 0) refuse("an allocation without bytes");
        live_[address] = allocations_;
        recording_.requests.push_back({Request::Kind::alloc, allocations_++, bytes, stream});
        add(EventKind::alloc);
        break;
      case 'o':
        if (bytes <= 0) refuse("an allocation without bytes");
        recording_.requests.push_back({Request::Kind::alloc, allocations_++, bytes, stream});
        add(EventKind::out_of_memory);
        break;
      case 'f':
        recording_.requests.push_back({Request::Kind::free, live_at(address), 0, 0});
        live_.erase(address);
        add(EventKind::free_requested);
        break;
      case 'r': recording_.requests.push_back({Request::Kind::record_stream, live_at(address), 0, stream}); break;
      case 'e': recording_.requests.push_back({Request::Kind::empty_cache, 0, 0, 0}); break;
      case 'c': add(EventKind::free_completed); break;
      case '+': add(EventKind::segment_alloc); break;
      case '-': add(EventKind::segment_free); break;
      case 'm': add(EventKind::segment_map); break;
      case 'u': add(EventKind::segment_unmap); break;
      case '.':
        recording_.end = totals_;
        ended_ = true;
        break;
      default: refuse("not an event");
    }
  }

  std::uint32_t live_at(std::int64_t address) {
    const auto found = live_.find(address);
    if (found == live_.end()) refuse("nothing is allocated at that address");
    return found->second;
  }

  template <class Number>
  Number number(std::string_view text) {
    const auto value = parse_number<Number>(text);
    const auto most = static_cast<Number>(kLargestNumber);
    if (!value || !(*value >= -most && *value <= most)) refuse(fmt::format("\"{}\" is not a number", text));
    return *value;
  }

  int one_of(std::string_view value, std::string_view first, std::string_view second) {
    if (value != first && value != second) refuse(fmt::format("\"{}\" is neither {} nor {}", value, first, second));
    return value == first ? 0 : 1;
  }

  bool next_line() {
    if (text_.empty()) {
      line_ = {};
      return false;
    }
    const std::size_t end = text_.find('\n');
    if (end == std::string_view::npos) refuse("the last line is cut off");
    line_ = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    ++line_number_;
    return true;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Errc::bad_file, why, fmt::format("line {} of a recording", line_number_));
  }

  std::string_view text_, line_;
  int line_number_ = 0;
  Recording recording_;
  Totals totals_;
  bool ended_ = false;
  std::uint32_t allocations_ = 0;
  std::unordered_map<std::int64_t, std::uint32_t> live_;
};

}  // namespace

Recording read_recording(std::string_view text) { return RecordingReader(text).read(); }

ReplayResult replay(const std::vector<Request>& requests, Allocator& allocator) {
  ReplayResult result;
  std::vector<AllocationId> ids;  // by number; kOutOfMemory when there is none (any more)
  for (const Request& request : requests) {
    if (request.kind == Request::Kind::alloc) {
      if (request.number != ids.size()) throw Error(Errc::bad_value, "allocations must be numbered in order");
      ids.push_back(allocator.alloc(request.bytes, request.stream));
      result.out_of_memory_count += ids.back() == kOutOfMemory ? 1 : 0;
    } else if (request.kind == Request::Kind::empty_cache) {
      allocator.empty_cache();
    } else {
      if (request.number >= ids.size())
        throw Error(Errc::bad_value, "a request about an allocation that is still to come");
      AllocationId& id = ids[request.number];
      if (id != kOutOfMemory && request.kind == Request::Kind::record_stream)
        allocator.record_stream(id, request.stream);
      if (id != kOutOfMemory && request.kind == Request::Kind::free) {
        allocator.free(id);
        id = kOutOfMemory;
      }
    }
    result.timeline.add(allocator.totals());
  }
  result.end = allocator.totals();
  return result;
}

}  // namespace tidemark
