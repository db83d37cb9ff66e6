#include "tensor/repetition.h"

#include <algorithm>

#include "memory/size_classes.h"
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

/// Which allocation an event of Run::history() is about.
std::uint32_t entry_of(std::int32_t event) { return static_cast<std::uint32_t>(std::abs(event) - 1); }

/// With so many more bytes allocated, and active: on one stream, nothing that was freed waits.
Totals with(Totals totals, std::int64_t more_bytes) {
  totals.allocated_bytes += more_bytes;
  totals.active_bytes += more_bytes;
  return totals;
}

}  // namespace

bool Repetition::is_closed(std::size_t before, std::size_t begin) {
  legacies_.clear();
  left_.clear();
  heirs_.clear();
  stretch_ = static_cast<std::uint32_t>(begin);
  const std::uint32_t first = first_entry_ = first_entry(run_.history_, begin, run_.ledger_.size());
  const std::uint32_t oldest = first_entry(run_.history_, before, run_.ledger_.size());
  for (std::size_t i = begin; i < run_.history_.size(); ++i) {
    if (run_.history_[i] == 0) return false;
    if (run_.history_[i] > 0) continue;
    const std::uint32_t entry = entry_of(run_.history_[i]);
    if (entry < oldest || heirs_.size() > kMostHeirs) return false;
    if (entry < first) heirs_.push_back({.of = entry});
  }
  std::sort(heirs_.begin(), heirs_.end(), [](const Heir& a, const Heir& b) { return a.of < b.of; });
  std::size_t taken = 0;
  for (std::uint32_t entry = first; entry < run_.ledger_.size(); ++entry) {
    if (run_.ledger_[entry].died != 0) continue;
    const auto heir = std::find_if(heirs_.begin(), heirs_.end(), [&](const Heir& free) {
      return free.entry == 0 && is_of_one_kind(run_.ledger_[free.of], run_.ledger_[entry]);
    });
    if (heir == heirs_.end()) return false;
    heir->entry = entry;
    ++taken;
  }
  return taken == heirs_.size();
}

void Repetition::give_up() {
  run_.end();
  throw NotRepeatable{};
}

void Repetition::let_go(Tensor last, Tensor& place) {
  if (!last && run_.stage.step == 1) legacies_.push_back({run_.history_.size(), &place});
}

bool Repetition::is_closed_first(std::size_t begin) {
  heirs_.clear();
  left_.clear();
  stretch_ = static_cast<std::uint32_t>(begin);
  const std::uint32_t first = first_entry_ = first_entry(run_.history_, begin, run_.ledger_.size());
  std::vector<char> made_once(run_.ledger_.size() - first);  // no vector<bool>: each is asked for
  const auto frees_its_own = [&](Stretch events, bool is_once) {
    for (std::size_t i = events.begin; i < events.end; ++i) {
      const std::int32_t event = run_.history_[i];
      const std::uint32_t entry = entry_of(event);
      if (event == 0 || entry < first) return false;
      char& once = made_once[entry - first];
      if (event > 0)
        once = is_once;
      else if (once != static_cast<char>(is_once))
        return false;
    }
    return true;
  };
  std::size_t from = begin;
  for (const Stretch& once : once_) {
    if (once.end <= from) continue;
    if (!frees_its_own({from, std::max(from, once.begin)}, false)) return false;
    if (!frees_its_own({std::max(from, once.begin), once.end}, true)) return false;
    from = once.end;
  }
  if (!frees_its_own({from, run_.history_.size()}, false)) return false;
  for (std::uint32_t entry = first; entry < run_.ledger_.size(); ++entry)
    if (run_.ledger_[entry].died == 0 && !made_once[entry - first]) left_.push_back(entry);
  std::erase_if(legacies_, [](const Legacy& legacy) { return !*legacy.place; });
  if (legacies_.empty()) return left_.empty();
  const auto has_memory = [](const Legacy& legacy) { return legacy.place->impl().storage->id != kNoBytes; };
  if (left_.size() > kMostHeirs || !std::all_of(legacies_.begin(), legacies_.end(), has_memory)) return false;
  for (std::size_t i = 0, count = legacies_.size(); i < count; ++i)  // once more when the second step is over
    legacies_.push_back({run_.history_.size(), legacies_[i].place});
  return true;
}

/// Comes twice: where the step lets go of what is in `place`, and when it is over and has made what is there now.
void Repetition::hand_over(Tensor& place) {
  if (place.impl().storage->id != kNoBytes) return let_go_again(place);
  for (Tensor* made = &place; *made; made = &made->impl().base) {
    Storage& memory = *made->impl().storage;
    const Twin twin = twins_[memory.record];
    memory.id = twin.id;
    memory.record = twin.entry;
    run_.ledger_[twin.entry].storage = &memory;
  }
}

/// In place of what goes there comes a tensor whose bases are the rest of what goes with it: they will go in the same
/// order, each in front of the one that it is the base of.
void Repetition::let_go_again(Tensor& place) {
  const std::size_t begin = run_.history_.size();
  const auto tensor_of = [&](std::uint32_t entry) {
    Tensor tensor = alias(place);
    tensor.impl().storage = memory_of({kNoBytes, entry});
    return tensor;
  };
  const std::uint32_t own = place.impl().storage->record;
  Tensor next = tensor_of(own);
  std::vector<Twin> twins = std::exchange(twins_, {});  // what goes was not made by a repetition
  std::swap(place, next);
  next.reset();
  twins_ = std::move(twins);
  if (run_.history_.size() == begin || run_.history_.back() != -static_cast<std::int32_t>(own) - 1) give_up();
  Tensor* user = &place;
  for (std::size_t i = run_.history_.size(); i-- > begin;) {
    const std::uint32_t entry = entry_of(run_.history_[i]);
    if (std::erase(left_, entry) == 0) give_up();
    if (entry == own) continue;
    user->impl().base = tensor_of(entry);
    user = &user->impl().base;
  }
}

Ref<Storage> Repetition::memory_of(const Twin& twin) {
  Ref<Storage> storage(run_.storages.make());
  storage->run = &run_;
  storage->id = twin.id;
  storage->record = twin.entry;
  return storage;
}

Repetition::Twin Repetition::twin_of(std::uint32_t entry) const {
  if (entry < twins_.size() && twins_[entry].entry != 0) return twins_[entry];
  return {run_.ledger_[entry].id, entry};
}

/// What has the place of a tensor from before the events that are repeated.
Repetition::Twin Repetition::heir_of(std::uint32_t entry) const {
  return std::find_if(heirs_.begin(), heirs_.end(), [&](const Heir& known) { return known.of == entry; })->last;
}

/// A repetition begins: what has the place of a tensor from before it.
void Repetition::succeed() {
  for (Heir& heir : heirs_) heir.last = twin_of(heir.entry);
}

DriverState driver_state(const CachingAllocator& allocator) {
  const AllocatorStats& stats = allocator.stats();
  return {stats.num_device_alloc + stats.num_device_free, stats.reserved_bytes.current};
}

void Repetition::repeat(std::size_t begin, std::size_t end, LargeAnswers* known_large) try {
  if (static_cast<std::size_t>(run_.timeline_.events()) + (end - begin) >= Run::kMostEvents) run_.refuse_more_events();
  twins_.resize(run_.ledger_.size());
  if (begin == stretch_) succeed();
  const auto begins_later = [&](const Stretch& known) { return known.begin >= begin; };
  std::size_t once = static_cast<std::size_t>(std::find_if(once_.begin(), once_.end(), begins_later) - once_.begin());
  std::size_t answered =
      static_cast<std::size_t>(std::find_if(answered_.begin(), answered_.end(), begins_later) - answered_.begin());
  std::vector<Source> sources = sources_within(begin, end);
  std::size_t source = 0;
  const auto given_back = [&] {
    const AllocatorStats& stats = run_.allocator_.stats();
    return stats.num_device_free + stats.num_alloc_retries;
  };
  const std::int64_t given_back_before = given_back();
  LargeAnswers asked{.are_known = false};
  LargeAnswers& large = known_large ? *known_large : asked;
  std::size_t call = large.into_history ? run_.stream_calls.first_at(begin) : run_.stream_calls.all().size();
  for (std::size_t i = begin; i < end; hand_over_at(i)) {
    call = repeat_calls_at(i, call);
    if (source < sources.size() && sources[source].at == i) {
      sources[source].repeated_at = run_.history_.size();
      sources[source++].driver = driver_state(run_.allocator_);
    }
    if (once < once_.size() && once_[once].begin == i) {
      i = once_[once++].end;
      continue;
    }
    if (answered < answered_.size() && answered_[answered].begin == i) {
      const Answered known = answered_[answered++];
      if (repeat_answered(known, sources, large.into_history)) {
        i = known.end;
        continue;
      }
    }
    std::size_t turn = end;  // the next event in front of which there is something to do
    if (source < sources.size()) turn = std::min(turn, sources[source].at);
    if (once < once_.size()) turn = std::min(turn, once_[once].begin);
    if (answered < answered_.size()) turn = std::min(turn, answered_[answered].begin);
    if (!legacies_.empty()) turn = std::min(turn, legacies_.front().at);
    turn = std::min(turn, next_call_position(call));
    for (; i < turn; ++i) {
      const std::int32_t event = run_.history_[i];
      const std::uint32_t entry = entry_of(event);
      event > 0 ? repeat_allocation(entry, large) : repeat_free(entry, large);
    }
  }
  if (large.are_known && given_back() != given_back_before) give_up();  // of the large pool, maybe
} catch (const DeviceOutOfMemory&) {
  if (known_large) run_.end();
  throw;
}

/// How many events come before that call; behind the last, more than there are.
std::size_t Repetition::next_call_position(std::size_t call) const {
  const std::vector<StreamCall>& all = run_.stream_calls.all();
  return call < all.size() ? all[call].position : SIZE_MAX;
}

/// Those in front of that event; passes over what was not repeated.  Returns the next.
std::size_t Repetition::repeat_calls_at(std::size_t event, std::size_t call) {
  const std::vector<StreamCall>& all = run_.stream_calls.all();
  for (; call < all.size() && all[call].position <= event; ++call)
    if (all[call].position == event) run_.stream_calls.repeat(call);
  return call;
}

/// By which events between these others were answered.
std::vector<Repetition::Source> Repetition::sources_within(std::size_t begin, std::size_t end) const {
  std::vector<Source> sources;
  for (const Answered& known : answered_)
    if (known.begin >= begin && known.end <= end && known.source >= begin) sources.push_back({.at = known.source});
  const auto is_before = [](const Source& a, const Source& b) { return a.at < b.at; };
  std::sort(sources.begin(), sources.end(), is_before);
  const auto is_same = [](const Source& a, const Source& b) { return a.at == b.at; };
  sources.erase(std::unique(sources.begin(), sources.end(), is_same), sources.end());
  return sources;
}

/// The allocator stands where it stood, for between an answered stretch and its source there are but stretches that
/// leave nothing behind (tensor/known_requests.h); and it has not been to the driver since, if this says true.
bool Repetition::repeat_answered(const Answered& answered, const std::vector<Source>& sources, bool into_history) {
  const auto source =
      std::find_if(sources.begin(), sources.end(), [&](const Source& known) { return known.at == answered.source; });
  if (source == sources.end() || source->driver != driver_state(run_.allocator_)) return false;
  if (into_history)
    repeat_answers(source->repeated_at, source->repeated_at + (answered.end - answered.begin));
  else
    pass_over(answered.begin, answered.end);
  return true;
}

/// A place is filled in the phase in which what was there is let go of: never in front of a stretch.
void Repetition::hand_over_at(std::size_t event) {
  if (legacies_.empty() || legacies_.front().at != event) return;
  for (; !legacies_.empty() && legacies_.front().at == event; legacies_.erase(legacies_.begin()))
    hand_over(*legacies_.front().place);
  if (legacies_.empty() && !left_.empty()) give_up();
}

void Repetition::repeat_allocation(std::uint32_t entry, LargeAnswers& large) {
  const LedgerEntry& known = run_.ledger_[entry];
  AllocationId id = known.id;
  std::int64_t bytes = known.bytes;
  if (large.are_known && bytes > kSmallBytes) {  // what the small pool gives is never larger
    large.bytes += bytes;
  } else {
    id = run_.request(known.requested_bytes, known.stream, true);
    bytes = run_.allocator_.block_bytes(id);
  }
  const Totals totals = with(run_.allocator_.totals(), large.bytes);
  twins_[entry] = {id, large.into_history ? static_cast<std::uint32_t>(run_.ledger_.size()) : entry};
  large.into_history ? run_.note_allocation(known, id, bytes, totals) : run_.timeline_.add(totals);
}

void Repetition::repeat_free(std::uint32_t entry, LargeAnswers& large) {
  const Twin freed = entry < first_entry_ ? heir_of(entry) : twins_[entry];
  if (const std::int64_t bytes = run_.ledger_[entry].bytes; large.are_known && bytes > kSmallBytes)
    large.bytes -= bytes;
  else
    run_.allocator_.free(freed.id);
  const Totals totals = with(run_.allocator_.totals(), large.bytes);
  large.into_history ? run_.note_free(freed.entry, totals) : run_.timeline_.add_fallen(totals);
}

std::vector<Ref<Storage>> Repetition::repeat_for(const std::vector<LedgerEntry>& made,
                                                 const std::vector<std::int32_t>& events, std::uint32_t like) {
  std::vector<Ref<Storage>> left(made.size());
  for (const std::int32_t event : events) {
    const std::uint32_t number = entry_of(event);
    if (event < 0) {
      left[number].reset();
      continue;
    }
    LedgerEntry twin = made[number];
    twin.module = run_.ledger_[like + number].module;
    twin.id = run_.request(twin.requested_bytes, twin.stream, true);
    twin.bytes = run_.allocator_.block_bytes(twin.id);
    left[number] = memory_of({twin.id, static_cast<std::uint32_t>(run_.ledger_.size())});
    run_.note_allocation(twin, run_.allocator_.totals());
    run_.ledger_.back().storage = left[number].get();
  }
  return left;
}

void Repetition::repeat_answers(std::size_t begin, std::size_t end) {
  twins_.resize(run_.ledger_.size());
  answered_.push_back({{run_.history_.size(), run_.history_.size() + (end - begin)}, begin});
  // Where the part before this one left them.
  Totals totals = run_.timeline_.last();
  for (std::size_t i = begin, call = run_.stream_calls.first_at(begin); i < end;) {
    call = repeat_calls_at(i, call);
    for (const std::size_t turn = std::min(end, next_call_position(call)); i < turn; ++i) {
      const std::int32_t event = run_.history_[i];
      const std::uint32_t entry = entry_of(event);
      const LedgerEntry& known = run_.ledger_[entry];
      totals = with(totals, event > 0 ? known.bytes : -known.bytes);
      if (event < 0) {
        run_.note_free(twins_[entry].entry, totals);
        continue;
      }
      twins_[entry].entry = static_cast<std::uint32_t>(run_.ledger_.size());
      run_.note_allocation(known, known.id, known.bytes, totals);
    }
  }
}

void Repetition::pass_over(std::size_t begin, std::size_t end) {
  if (static_cast<std::size_t>(run_.timeline_.events()) + (end - begin) >= Run::kMostEvents) run_.refuse_more_events();
  Totals totals = run_.timeline_.last();
  for (std::size_t i = begin; i < end; ++i) {
    const std::int32_t event = run_.history_[i];
    const std::int64_t bytes = run_.ledger_[entry_of(event)].bytes;
    totals = with(totals, event > 0 ? bytes : -bytes);
    event > 0 ? run_.timeline_.add(totals) : run_.timeline_.add_fallen(totals);
  }
}

Once::Once(Run& run) : run_(run), begin_(run.history().size()) {}

Once::~Once() {
  const std::size_t end = run_.history().size();
  if (end > begin_) run_.repetition.once_.push_back({begin_, end});
}

}  // namespace tidemark
