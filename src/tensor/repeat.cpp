// Stretches of events that are repeated.  train/step.cpp, Note [Steps that repeat]
#include <algorithm>

#include "tensor/run.h"

namespace tidemark {
namespace {

constexpr std::size_t kMostHeirs = 64;

bool is_of_one_kind(const LedgerEntry& a, const LedgerEntry& b) {
  return a.requested_bytes == b.requested_bytes && a.op == b.op && a.module == b.module && a.category == b.category &&
         a.stream == b.stream;
}

/// The entry of the first allocation among events; the ledger's end if there is none.
std::uint32_t first_entry(const std::vector<std::int32_t>& history, std::size_t begin, std::size_t ledger_end) {
  const auto found = std::find_if(history.begin() + static_cast<std::ptrdiff_t>(begin), history.end(),
                                  [](std::int32_t event) { return event > 0; });
  return static_cast<std::uint32_t>(found == history.end() ? ledger_end : static_cast<std::size_t>(*found - 1));
}

}  // namespace

bool Run::is_closed(std::size_t before, std::size_t begin) {
  heirs_.clear();
  stretch_ = begin;
  const std::uint32_t first = first_entry(history_, begin, ledger_.size());
  const std::uint32_t oldest = first_entry(history_, before, ledger_.size());
  for (std::size_t i = begin; i < history_.size(); ++i) {
    if (history_[i] == 0) return false;
    if (history_[i] > 0) continue;
    const auto entry = static_cast<std::uint32_t>(-history_[i] - 1);
    if (entry < oldest || heirs_.size() > kMostHeirs) return false;
    if (entry < first) heirs_.push_back({.of = entry});
  }
  std::sort(heirs_.begin(), heirs_.end(), [](const Heir& a, const Heir& b) { return a.of < b.of; });
  std::size_t taken = 0;
  for (std::uint32_t entry = first; entry < ledger_.size(); ++entry) {
    if (ledger_[entry].died != 0) continue;
    const auto heir = std::find_if(heirs_.begin(), heirs_.end(), [&](const Heir& free) {
      return free.entry == 0 && is_of_one_kind(ledger_[free.of], ledger_[entry]);
    });
    if (heir == heirs_.end()) return false;
    heir->entry = entry;
    ++taken;
  }
  return taken == heirs_.size();
}

Run::Twin Run::repeated(std::uint32_t entry) const {
  if (entry < repeated_.size() && repeated_[entry].entry != 0) return repeated_[entry];
  return {ledger_[entry].id, entry};
}

/// A repetition begins: what has the place of a tensor from before it.
void Run::succeed() {
  for (Heir& heir : heirs_) heir.last = repeated(heir.entry);
}

void Run::repeat(std::size_t begin, std::size_t end) {
  repeated_.resize(ledger_.size());
  if (begin == stretch_) succeed();
  for (std::size_t i = begin; i < end; ++i) {
    const auto entry = static_cast<std::uint32_t>(std::abs(history_[i]) - 1);
    if (history_[i] > 0) {
      LedgerEntry twin = ledger_[entry];
      twin.id = request(twin.requested_bytes, twin.stream);
      twin.bytes = allocator_.block_bytes(twin.id);
      repeated_[entry] = {twin.id, static_cast<std::uint32_t>(ledger_.size())};
      note_allocation(twin, allocator_.totals());
      continue;
    }
    const auto heir = std::find_if(heirs_.begin(), heirs_.end(), [&](const Heir& known) { return known.of == entry; });
    const Twin freed = heir != heirs_.end() ? heir->last : repeated_[entry];
    allocator_.free(freed.id);
    note_free(freed.entry, allocator_.totals());
  }
}

void Run::repeat_answers(std::size_t begin, std::size_t end) {
  repeated_.resize(ledger_.size());
  // Where the part before this one left them; on one stream, nothing that was freed waits.
  Totals totals = timeline_.last();
  for (std::size_t i = begin; i < end; ++i) {
    const auto entry = static_cast<std::size_t>(std::abs(history_[i]) - 1);
    const std::int64_t bytes = history_[i] > 0 ? ledger_[entry].bytes : -ledger_[entry].bytes;
    totals.allocated_bytes += bytes;
    totals.active_bytes += bytes;
    if (history_[i] > 0) {
      repeated_[entry].entry = static_cast<std::uint32_t>(ledger_.size());
      note_allocation(ledger_[entry], totals);
    } else {
      note_free(repeated_[entry].entry, totals);
    }
  }
}

}  // namespace tidemark
