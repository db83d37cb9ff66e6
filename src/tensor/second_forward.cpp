#include "tensor/second_forward.h"

#include <algorithm>
#include <string_view>

#include "tensor/run.h"

namespace tidemark {

/// Of a block, as far as it has run.
struct FirstForward {
  std::size_t event = 0, entry = 0;  // with which it begins
  std::size_t made = 0;              // how many allocations
  std::uint64_t sequence = 0;
  std::uint32_t side_effects = 0;
  std::vector<std::int64_t> text;      // all that it does, by numbers that do not depend on which block it is
  std::vector<std::uint32_t> outside;  // by place: of memory that is older its entry + 1; 0: the block's own
};

/// A saved tensor that a second forward made again.
struct RemadeTensor {
  bool wanted = false, has_base = false;
  std::uint32_t same_as = 0;  // the place of the first one that is the same tensor
  std::int32_t made = -1;     // by which allocation; -1: older memory
  Layout layout;
  Dtype dtype = Dtype::f32;
  bool distributed = false;
  std::int8_t split = -1;
  std::int32_t parts = 1;
};

struct SecondForward {
  // Whose it is.
  std::vector<std::int64_t> first_forward;
  std::vector<bool> wanted;
  std::string_view op;
  Category category;
  StreamId stream;
  // What it does.
  std::vector<LedgerEntry> made;
  std::vector<std::int32_t> events;  // by number of what is made
  std::vector<RemadeTensor> values;
};

struct SecondForwards {
  std::vector<SecondForward> known;
};

namespace {

constexpr std::size_t kMostKinds = 8;

/// Strings of operations are constants: one of another address may count as another.
std::int64_t number_of(const char* name) { return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(name)); }

void write(std::vector<std::int64_t>& text, const Dims& dims) {
  text.push_back(dims.count());
  for (const std::int64_t size : dims) text.push_back(size);
}

void write_edge(FirstForward& first, const Edge& edge) {
  enum : std::int64_t { kNone = -1, kLeaf = -2, kOutside = -3 };
  const Node* node = edge.node.get();
  first.text.push_back(!node                             ? kNone
                       : node->variable                  ? kLeaf
                       : node->sequence < first.sequence ? kOutside
                                                         : static_cast<std::int64_t>(node->sequence - first.sequence));
  first.text.push_back(edge.output);
}

void write_saved(FirstForward& first, const Tensor& tensor) {
  const TensorImpl& impl = tensor.impl();
  const std::uint32_t entry = impl.storage->record;
  const bool has_memory = impl.storage->id != kNoBytes, is_own = has_memory && entry >= first.entry;
  first.outside.push_back(is_own ? 0 : entry + 1);
  if (!has_memory) ++impl.run->side_effects;  // of the host, or of no bytes: not followed
  first.text.push_back(is_own ? static_cast<std::int64_t>(entry - first.entry) : -1);
  write(first.text, impl.layout.sizes);
  write(first.text, impl.layout.strides);
  for (const std::int64_t fact : {static_cast<std::int64_t>(impl.dtype), std::int64_t{impl.requires_grad},
                                  std::int64_t{static_cast<bool>(impl.base)}, std::int64_t{impl.distributed},
                                  std::int64_t{impl.split}, std::int64_t{impl.parts}})
    first.text.push_back(fact);
}

/// The events, and what was asked for: false if it freed what is older.
bool write_events(const Run& run, FirstForward& first) {
  for (std::size_t i = first.event; i < run.history().size(); ++i) {
    const std::int64_t event = run.history()[i];
    const std::size_t entry = static_cast<std::size_t>(std::abs(event) - 1);
    if (event == 0 || entry < first.entry) return false;
    const auto number = static_cast<std::int64_t>(entry - first.entry) + 1;
    first.text.push_back(event > 0 ? number : -number);
    if (event < 0) continue;
    const LedgerEntry& made = run.ledger()[entry];
    first.text.push_back(made.requested_bytes);
    first.text.push_back(number_of(made.op));
    first.text.push_back(static_cast<std::int64_t>(made.category));
    first.text.push_back(made.stream);
  }
  return true;
}

/// Whether tensors made of what is known of it are the same to all who take them.
bool describe(const Tensor& tensor, std::size_t first_entry, RemadeTensor& value) {
  const TensorImpl& impl = tensor.impl();
  value.wanted = true;
  value.has_base = static_cast<bool>(impl.base);
  value.layout = impl.layout;
  value.dtype = impl.dtype;
  value.distributed = impl.distributed;
  value.split = impl.split;
  value.parts = impl.parts;
  if (impl.storage->record >= first_entry) value.made = static_cast<std::int32_t>(impl.storage->record - first_entry);
  return !impl.requires_grad && !impl.grad_fn && !impl.grad && !(impl.base && impl.base.requires_grad());
}

/// All values, where what was made again is what was to be made again.
bool describe(const CheckpointFrame& frame, std::size_t first_entry, std::vector<RemadeTensor>& values) {
  const FirstForward& first = *frame.first_forward;
  values.resize(frame.values.size());
  for (std::size_t place = 0; place < values.size(); ++place) {
    const Tensor& tensor = frame.values[place];
    RemadeTensor& value = values[place];
    value.same_as = static_cast<std::uint32_t>(place);
    if (!tensor) continue;
    if (!describe(tensor, first_entry, value)) return false;
    const bool is_outside = first.outside[place] != 0;
    if (is_outside ? tensor.impl().storage->record + 1 != first.outside[place] : value.made < 0) return false;
    for (std::size_t other = 0; other < place; ++other)
      if (frame.values[other] && tensor.is(frame.values[other])) {
        value.same_as = static_cast<std::uint32_t>(other);
        break;
      }
  }
  return true;
}

/// The events, if they free what they made, but for the memory of values.
bool take_events(const Run& run, std::size_t event, std::size_t entry, const FirstForward& first,
                 SecondForward& second) {
  for (; event < run.history().size(); ++event) {
    const std::int32_t past = run.history()[event];
    const auto number = static_cast<std::int32_t>(static_cast<std::size_t>(std::abs(past)) - entry);
    if (past == 0 || number <= 0) return false;
    second.events.push_back(past > 0 ? number : -number);
  }
  second.made.assign(run.ledger().begin() + entry, run.ledger().end());
  if (second.made.size() > first.made) return false;
  std::vector<bool> left(second.made.size());
  for (const RemadeTensor& value : second.values)
    if (value.made >= 0) left[static_cast<std::size_t>(value.made)] = true;
  for (std::size_t number = 0; number < second.made.size(); ++number) {
    const LedgerEntry& made = second.made[number];
    const LedgerEntry& before = run.ledger()[first.entry + number];
    if ((made.died == 0) != left[number] || made.requested_bytes != before.requested_bytes ||
        made.module != before.module)
      return false;
  }
  return true;
}

Tensor make(Run& run, const RemadeTensor& value, Ref<Storage> storage) {
  TensorImpl* impl = run.tensors.make();
  Tensor tensor(impl);
  impl->run = &run;
  impl->storage = std::move(storage);
  impl->layout = value.layout;
  impl->dtype = value.dtype;
  impl->distributed = value.distributed;
  impl->split = value.split;
  impl->parts = value.parts;
  if (value.has_base) impl->base = alias(tensor);
  return tensor;
}

}  // namespace

void repeat_second_forwards(Run& run) { run.second_forwards = std::make_shared<SecondForwards>(); }

void begin_first_forward(Run& run, CheckpointFrame& frame) {
  if (!run.second_forwards || frame.autocast) return;
  frame.first_forward = std::make_shared<FirstForward>();
  FirstForward& first = *frame.first_forward;
  first.event = run.history().size();
  first.entry = run.ledger().size();
  first.sequence = run.next_sequence;
  first.side_effects = run.side_effects;
}

void write_down(const Node& node, const CheckpointFrame& frame, const Tensors& saved) {
  if (!frame.first_forward || frame.recomputing) return;
  FirstForward& first = *frame.first_forward;
  first.text.push_back(static_cast<std::int64_t>(node.run->history().size() - first.event));
  first.text.push_back(number_of(node.name));
  first.text.push_back(static_cast<std::int64_t>(node.edges.size()));
  for (const Edge& edge : node.edges) write_edge(first, edge);
  first.text.push_back(static_cast<std::int64_t>(saved.size()));
  for (const Tensor& tensor : saved) tensor ? write_saved(first, tensor) : first.text.push_back(-2);
}

void end_first_forward(Run& run, CheckpointFrame& frame) {
  if (!frame.first_forward) return;
  FirstForward& first = *frame.first_forward;
  first.made = run.ledger().size() - first.entry;
  first.text.push_back(frame.last);
  first.text.push_back(frame.last_saves_inputs ? 1 : 0);
  if (run.side_effects != first.side_effects || !write_events(run, first)) frame.first_forward.reset();
}

bool repeat_second_forward(Run& run, CheckpointFrame& frame) {
  if (!frame.first_forward) return false;
  const FirstForward& first = *frame.first_forward;
  const std::vector<SecondForward>& known = run.second_forwards->known;
  const auto found = std::find_if(known.begin(), known.end(), [&](const SecondForward& second) {
    return second.op == run.op && second.category == run.category && second.stream == run.stream &&
           second.wanted == frame.wanted && second.first_forward == first.text;
  });
  if (found == known.end()) return false;
  for (std::size_t place = 0; place < found->values.size(); ++place)
    if (found->values[place].wanted && first.outside[place] != 0 && !run.ledger()[first.outside[place] - 1].storage)
      return false;
  const std::vector<Ref<Storage>> made =
      run.repetition.repeat_for(found->made, found->events, static_cast<std::uint32_t>(first.entry));
  frame.values.resize(frame.wanted.size());
  for (std::size_t place = 0; place < found->values.size(); ++place) {
    const RemadeTensor& value = found->values[place];
    if (!value.wanted) continue;
    if (value.same_as != place)
      frame.values[place] = frame.values[value.same_as];
    else
      frame.values[place] = make(run, value,
                                 value.made < 0 ? Ref<Storage>(run.ledger()[first.outside[place] - 1].storage)
                                                : made[static_cast<std::size_t>(value.made)]);
  }
  return true;
}

WatchedForward::WatchedForward(Run& run)
    : run_(run), side_effects_(run.side_effects), event_(run.history().size()), entry_(run.ledger().size()) {}

void WatchedForward::keep(const CheckpointFrame& frame) {
  if (!frame.first_forward || run_.side_effects != side_effects_) return;
  std::vector<SecondForward>& known = run_.second_forwards->known;
  if (known.size() == kMostKinds) return;
  SecondForward second{frame.first_forward->text, frame.wanted, run_.op, run_.category, run_.stream, {}, {}, {}};
  if (describe(frame, entry_, second.values) && take_events(run_, event_, entry_, *frame.first_forward, second))
    known.push_back(std::move(second));
}

}  // namespace tidemark
