#include "io/torch_snapshot.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"
#include "io/pickle.h"

namespace tidemark::io {
namespace {

constexpr std::int64_t kMaxBlockBytes =
    1LL << 50;  // of one allocation: beyond any machine, and far from overflow when rounded
constexpr std::int64_t kMinBlockBytes = 512;  // CUDACachingAllocator.cpp: kMinBlockSize

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& where) : pickle_(read_pickle(bytes, where)), where_(where) {}

  MemoryRecord read() {
    const PickleNode& traces = list(pickle_.root(), "device_traces", "");
    const std::size_t device = longest(traces);
    MemoryRecord record;
    record.name = where_;
    record.events.emplace();
    record.events_are_requests = true;
    Totals end = totals_at_end(device);
    if (!traces.items.empty())
      walk_back(pickle_.node(traces.items[device]), fmt::format("device_traces[{}]", device), end, record);
    record.notes.push_back(where_ +
                           ": its allocated bytes are counted from requests rounded up to 512; blocks can be larger");
    return record;
  }

 private:
  struct Totals {
    std::int64_t requested_bytes = 0, allocated_bytes = 0, reserved_bytes = 0;
  };

  [[noreturn]] void refuse(const std::string& path, const std::string& why) const {
    throw Error(Errc::bad_file, why, path.empty() ? where_ : fmt::format("{}: {}", where_, path),
                "is it a memory snapshot of PyTorch?");
  }

  const PickleNode& get(const PickleNode& map, const char* key, PickleKind kind, const char* expected,
                        const std::string& path) const {
    if (map.kind != PickleKind::map) refuse(path, "expected a dict");
    const PickleNode* found = pickle_.find(map, key);
    if (!found) refuse(path, fmt::format("\"{}\" is missing", key));
    if (found->kind != kind) refuse(path, fmt::format("\"{}\" is not {}", key, expected));
    return *found;
  }
  const PickleNode& list(const PickleNode& map, const char* key, const std::string& path) const {
    return get(map, key, PickleKind::list, "a list", path);
  }
  std::int64_t bytes(const PickleNode& map, const char* key, const std::string& path) const {
    const std::int64_t number = get(map, key, PickleKind::integer, "a whole number", path).integer;
    if (number < 0 || number > kMaxBlockBytes) refuse(path, fmt::format("\"{}\" is {}, which is no size", key, number));
    return number;
  }
  std::string_view text(const PickleNode& map, const char* key, const std::string& path) const {
    return get(map, key, PickleKind::text, "a text", path).text;
  }

  std::size_t longest(const PickleNode& traces) const {
    std::size_t best = 0, length = 0;
    for (std::size_t i = 0; i < traces.items.size(); ++i) {
      const PickleNode& trace = pickle_.node(traces.items[i]);
      if (trace.kind != PickleKind::list) refuse(fmt::format("device_traces[{}]", i), "expected a list");
      if (trace.items.size() > length) best = i, length = trace.items.size();
    }
    return best;
  }

  Totals totals_at_end(std::size_t device) const {
    Totals totals;
    const PickleNode& segments = list(pickle_.root(), "segments", "");
    for (std::size_t i = 0; i < segments.items.size(); ++i) {
      const std::string path = fmt::format("segments[{}]", i);
      const PickleNode& segment = pickle_.node(segments.items[i]);
      if (static_cast<std::uint64_t>(bytes(segment, "device", path)) != device) continue;
      totals.reserved_bytes = checked_add(totals.reserved_bytes, bytes(segment, "total_size", path));
      totals.allocated_bytes = checked_add(totals.allocated_bytes, bytes(segment, "allocated_size", path));
      for (std::uint32_t index : list(segment, "blocks", path).items) {
        const PickleNode& block = pickle_.node(index);
        if (text(block, "state", path + ".blocks") != "active_allocated") continue;
        const char* key = pickle_.find(block, "requested_size") ? "requested_size" : "size";
        totals.requested_bytes = checked_add(totals.requested_bytes, bytes(block, key, path + ".blocks"));
      }
    }
    return totals;
  }

  // A trace may begin in the middle of a run, so its totals are known at its end alone.
  void walk_back(const PickleNode& trace, const std::string& path, Totals now, MemoryRecord& record) const {
    Totals peak = now;
    const auto keep = [](std::int64_t& most, std::int64_t bytes) { most = std::max(most, bytes); };
    for (std::size_t i = trace.items.size(); i-- > 0;) {
      keep(peak.requested_bytes, now.requested_bytes);
      keep(peak.allocated_bytes, now.allocated_bytes);
      keep(peak.reserved_bytes, now.reserved_bytes);
      const PickleNode& event = pickle_.node(trace.items[i]);
      const std::string at = fmt::format("{}[{}]", path, i);
      undo(event, text(event, "action", at), at, now, *record.events);
    }
    keep(peak.requested_bytes, now.requested_bytes);
    keep(peak.allocated_bytes, now.allocated_bytes);
    keep(peak.reserved_bytes, now.reserved_bytes);
    std::reverse(record.events->begin(), record.events->end());
    record.requested_bytes = peak.requested_bytes;
    record.allocated_bytes = peak.allocated_bytes;
    record.reserved_bytes = peak.reserved_bytes;
  }

  void undo(const PickleNode& event, std::string_view action, const std::string& path, Totals& now,
            std::vector<MemoryEvent>& events) const {
    const bool is_alloc = action == "alloc", is_free = action == "free_requested";
    const bool is_map = action == "segment_alloc" || action == "segment_map",
               is_unmap = action == "segment_free" || action == "segment_unmap";
    if (!is_alloc && !is_free && !is_map && !is_unmap) return;  // free_completed, snapshot, oom, workspace_snapshot
    const std::int64_t size = bytes(event, "size", path);
    const std::int64_t sign = is_alloc || is_map ? -1 : 1;
    if (is_map || is_unmap) {
      now.reserved_bytes = checked_add(now.reserved_bytes, sign * size);
      return;
    }
    const std::int64_t rounded =
        std::max<std::int64_t>(1, (size + kMinBlockBytes - 1) / kMinBlockBytes) * kMinBlockBytes;
    now.requested_bytes = checked_add(now.requested_bytes, sign * size);
    now.allocated_bytes = checked_add(now.allocated_bytes, sign * rounded);
    auto [operation, module] = names(event);
    events.push_back({size, is_free, std::move(operation), std::move(module)});
  }

  struct Names {
    std::string operation = "-", module = "-";
  };

  // `tidemark run` writes two frames, the operation and the module; the second has no file and no line.
  Names names(const PickleNode& event) const {
    Names result;
    const PickleNode* frames = pickle_.find(event, "frames");
    if (!frames || frames->kind != PickleKind::list || frames->items.empty()) return result;
    const auto text_of = [&](const PickleNode& frame, const char* key) {
      const PickleNode* found = pickle_.find(frame, key);
      return found && found->kind == PickleKind::text ? std::string(found->text) : std::string();
    };
    const PickleNode& first = pickle_.node(frames->items[0]);
    const PickleNode& last = pickle_.node(frames->items.back());
    if (frames->items.size() == 2 && text_of(last, "filename") == text_of(last, "name")) {
      result.operation = text_of(first, "name");
      result.module = text_of(last, "name");
    } else {
      const PickleNode* line = pickle_.find(first, "line");
      result.operation = fmt::format("{}:{}", text_of(first, "filename"),
                                     line && line->kind == PickleKind::integer ? line->integer : 0);
      result.module = text_of(first, "name");
    }
    return result;
  }

  Pickle pickle_;
  const std::string& where_;
};

}  // namespace

bool is_torch_snapshot(std::string_view bytes) { return bytes.size() > 1 && bytes[0] == '\x80'; }

MemoryRecord read_torch_snapshot(std::string_view bytes, const std::string& where) {
  return Reader(bytes, where).read();
}

}  // namespace tidemark::io
