// One simulated program: a device, an allocator, a tape and a ledger of who holds what.  Nothing here is shared, so any
// number of runs may go on in parallel threads.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/growing_array.h"
#include "memory/caching_allocator.h"
#include "memory/card.h"
#include "memory/timeline.h"
#include "tensor/node.h"
#include "tensor/repetition.h"
#include "tensor/stream_calls.h"
#include "tensor/tensor.h"
#include "tensor/torch_release.h"
#include "tensor/work.h"

namespace tidemark {

/// The device is full: where a real program would raise torch.OutOfMemoryError.  An outcome, caught by the estimate.
struct DeviceOutOfMemory {
  std::int64_t requested_bytes = 0;
  std::int64_t in_use_bytes = 0;  // on the device
  std::string message, where;     // PyTorch's text; operation and module
  bool in_repetition = false;     // of requests, where a program would free tensors on its way out
};

/// How far the program has come: a step (from 1; 0 before the first), and a part of it as its loop numbers them.
struct Stage {
  std::int64_t step = 0;
  int part = 0;
};

enum class Category : std::uint8_t {
  parameters,
  gradients,
  optimizer_state,
  activations,
  workspace,
  communication,
  kv_cache,
  other
};

/// One allocation in the ledger: who asked for it, and from which event to which it lived.
struct LedgerEntry {
  std::int64_t bytes = 0;  // as the allocator rounds them
  std::int64_t requested_bytes = 0;
  std::int32_t born = 0, died = 0;
  std::uint32_t module = 0;
  AllocationId id = kNoBytes;
  const char* op = "";
  Storage* storage = nullptr;  // whose memory it is; null when it has been freed, and of what steps have repeated
  StreamId stream = 0;
  std::uint32_t used_on = 0;  // other streams, by bit
  Category category = Category::activations;
};

/// torch.autocast: the type that matrix operations run in, and the casts that it keeps for its lifetime.
struct AutocastState {
  bool enabled = false;
  Dtype dtype = Dtype::bf16;
  std::vector<std::pair<TensorImpl*, Tensor>> weights;  // torch: at::autocast::cached_casts
};

struct ConvolutionScratch;  // ops/convolution_scratch.h

/// cuDNN's own answer, of a convolution that no table has: its row's key, and a number of images.  Throws Error with
/// why there is none.  May be called by several threads.
using AskCudnn = std::function<ConvolutionScratch(std::string_view row, std::int64_t images)>;

struct RunConfig {
  Card card;
  const TorchRules* torch = &torch_rules();  // not owned
  CachingAllocatorConfig allocator;
  /// Told each allocation and free as "+bytes op module"; empty for none.
  std::function<void(std::string_view)> on_event;
  /// Whether the history is to have what is known to be as it was before: all that the peak does not need.
  bool keeps_history = true;
  AskCudnn ask_cudnn = {};  // empty: nobody can be asked
};

class Kernel;
struct AttentionOptions;
struct ParameterHooks;
struct SecondForwards;

class Run {
 public:
  explicit Run(RunConfig config);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const RunConfig& config() const { return config_; }
  const Card& card() const { return config_.card; }
  const TorchRules& torch() const { return *config_.torch; }
  CachingAllocator& allocator() { return allocator_; }
  const Timeline& timeline() const { return timeline_; }
  Timeline& timeline() { return timeline_; }
  const GrowingArray<LedgerEntry>& ledger() const { return ledger_; }
  std::string module_name(std::uint32_t number) const;

  /// Modules are named once and then go by number; 0 is "-", no module.
  std::uint32_t name_module(std::string name);
  /// A wrapper has taken the whole model, whose root goes by `root`, for its `child`: names begin with it now.
  void prefix_modules(std::uint32_t root, std::string child);
  /// The module has become one of another class, which reports call it by.
  void rename_module(std::uint32_t number, std::string name) { module_names_[number] = std::move(name); }

  Ref<Storage> allocate(std::int64_t bytes);
  void free(Storage& storage);
  /// UntypedStorage.resize_: new memory comes, and the old goes.
  void resize(Storage& storage, std::int64_t bytes);

  /// What a collective reads stays until its `result` is first used.  torch: AsyncCollectiveTensor,
  /// torch/distributed/_functional_collectives.py (2.11.0)
  void start_collective(const Tensor& result, Tensor reads) {
    ++side_effects;
    in_flight_.emplace_back(result.impl().storage.get(), std::move(reads));
  }
  void use(const Tensor& tensor) {
    if (!in_flight_.empty()) finish_collective(tensor);
  }

  /// torch.cuda.empty_cache()
  void empty_cache();
  /// What libraries take of the card for good, in front of that event of the history.
  struct Taken {
    std::size_t position = 0;
    std::int64_t bytes = 0;
  };
  void take_from_device(std::int64_t bytes);
  const Taken& taken() const { return taken_; }
  /// Tensor.record_stream: when it is freed, its memory is the allocator's again only behind the stream's work.
  void record_stream(const Storage& storage, StreamId used_on);

  /// The program has ended: what dies from now on is no event any more.
  void end() { ended_ = true; }

  /// Every allocation (entry + 1), every free (-(entry + 1)) and every empty_cache (0) so far, by entry of the ledger.
  const std::vector<std::int32_t>& history() const { return history_; }

  // Of storage without bytes nothing is in the ledger.
  void set_category(const Storage& storage, Category to) {
    if (storage.id != kNoBytes) ledger_[storage.record].category = to;
  }
  std::int64_t bytes_of(const Storage& storage) const {
    return storage.id == kNoBytes ? 0 : ledger_[storage.record].requested_bytes;
  }
  std::uint32_t module_of(const Storage& storage) const { return ledger_[storage.record].module; }
  void set_module(const Storage& storage, std::uint32_t to) {
    if (storage.id != kNoBytes) ledger_[storage.record].module = to;
  }
  Category category_of(const Storage& storage) const { return ledger_[storage.record].category; }

  // What the program is doing now.
  Stage stage;
  std::uint32_t module = 0;
  const char* op = "-";
  Category category = Category::activations;  // of what is allocated now
  StreamId stream = 0;                        // torch.cuda.current_stream(); 0: the default stream
  bool on_host = false;                       // tensors are made on the host: they have no memory here
  bool grad_enabled = true;
  bool in_backward = false;  // on autograd's thread, which has library handles of its own
  bool runs_again = false;   // a checkpointed block's forward pass, in the backward pass
  // While a reference scores a batch; `evaluates`: it is a second model, in eval mode.
  bool adapters_off = false, checkpoints_off = false, evaluates = false;
  bool dropout_modules_off = false;  // each nn.Dropout has a probability of 0
  /// Whether what runs are kernels of the backward pass.
  bool computes_backward() const { return in_backward && !runs_again; }
  AutocastState autocast;
  /// Told of a parameter whose gradient has been accumulated.  torch: a post hook of AccumulateGrad
  std::function<void(const Tensor& parameter)> on_gradient;
  const ParameterHooks* parameter_hooks = nullptr;  // not owned; none: nothing is done there
  /// What a library has put in the place of torch.nn.functional.linear; none: torch's own.
  Tensor (*linear)(Tensor x, Tensor weight, Tensor bias) = nullptr;
  /// Likewise of torch.nn.functional.scaled_dot_product_attention.
  std::function<Tensor(Tensor q, Tensor k, Tensor v, Tensor mask, const AttentionOptions& options)>
      scaled_dot_product_attention;
  /// What losses of transformers are divided by, in place of taking the mean; none: the mean.
  /// transformers: loss/loss_utils.py (5.17.0), fixed_cross_entropy
  Tensor num_items_in_batch;
  CheckpointFrame* checkpoint = nullptr;            // the block whose saved tensors are being left out, or made again
  std::shared_ptr<SecondForwards> second_forwards;  // that may be repeated; null: all blocks run again
  std::int64_t layers = 0;                          // that the model has so far, of those that checkpointing may wrap
  std::uint32_t side_effects = 0;  // how often something was done that requests do not tell: a hook, a collective
  /// Where the running operation began: how many beginnings there were, and the ledger's next entry then.  An operation
  /// begins anew behind one that it is made of.
  struct Beginning {
    std::uint32_t number = 0, depth = 0;
    std::size_t entry = 0;
  } beginning;
  std::int64_t managed_bytes = 0;  // cudaMallocManaged: the driver's, beside the allocator
  std::uint64_t next_sequence = 0;
  std::uint32_t passes = 0;               // backward passes so far
  Ref<Storage> matmul_workspaces[2];      // of the program's thread and of autograd's
  Ref<Storage> fused_bias_workspaces[2];  // likewise, of cuBLASLt

  Kernel* kernel = nullptr;               // the operator that runs
  std::vector<std::string_view> kernels;  // those that have run in checkpointed blocks, each once
  Work* work = nullptr;                   // not owned; none: nothing is counted
  /// What to count the running operation in; none where nothing is computed: on the host, and what a block has kept,
  /// and of one that runs again what comes behind the last tensor that is wanted of it.
  Work* counted() const;

  bool has_fake_device = false;  // of the tensors that DTensor tries operations on

  Pool<TensorImpl> tensors;
  Pool<Storage> storages;
  Pool<Node> nodes;
  std::vector<Node*> dead_nodes;  // waiting to be destroyed, so that a long chain does not recurse
  bool destroying_nodes = false;

  Repetition repetition{*this};
  StreamCalls stream_calls{*this};

 private:
  RunConfig config_;
  CachingAllocator allocator_;
  Timeline timeline_;
  GrowingArray<LedgerEntry> ledger_;
  bool ended_ = false;
  std::vector<std::int32_t> history_;
  Taken taken_;
  std::vector<std::string> module_names_{"-"};  // without what wrappers put in front of them
  struct Wrapper {
    std::uint32_t root;
    std::string child;
    std::size_t end;  // behind the modules in it
  };
  std::vector<Wrapper> wrappers_;
  std::vector<std::pair<const Storage*, Tensor>> in_flight_;  // by the memory of their results

  friend class Repetition;
  void finish_collective(const Tensor& result);
  AllocationId request(std::int64_t bytes, StreamId on, bool in_repetition = false);
  void fill(Storage& storage, std::int64_t bytes);
  void note_allocation(const LedgerEntry& entry, const Totals& totals) {
    note_allocation(entry, entry.id, entry.bytes, totals);
  }
  /// Another like `entry`.
  void note_allocation(const LedgerEntry& entry, AllocationId id, std::int64_t bytes, const Totals& totals);
  void note_free(std::uint32_t entry, const Totals& totals);
  /// Before their numbers overflow, and before memory is full of them.
  static constexpr std::size_t kMostEvents = std::size_t{1} << 25;
  [[noreturn]] void refuse_more_events() const;
  void tell(char sign, std::int64_t bytes, const char* by, std::uint32_t in) const;
};

// Here, and not in the source file, what every event comes by.

inline void Run::note_allocation(const LedgerEntry& entry, AllocationId id, std::int64_t bytes, const Totals& totals) {
  if (history_.size() >= kMostEvents) refuse_more_events();
  timeline_.add(totals);
  LedgerEntry& made = ledger_.push_back(entry);
  made.id = id;
  made.bytes = bytes;
  made.born = static_cast<std::int32_t>(timeline_.events());
  made.died = 0;
  made.storage = nullptr;
  history_.push_back(static_cast<std::int32_t>(ledger_.size()));
  if (config_.on_event) tell('+', made.bytes, made.op, made.module);
}

inline void Run::note_free(std::uint32_t entry, const Totals& totals) {
  timeline_.add_fallen(totals);
  ledger_[entry].died = static_cast<std::int32_t>(timeline_.events());
  history_.push_back(-static_cast<std::int32_t>(entry) - 1);
  if (config_.on_event) tell('-', ledger_[entry].bytes, op, module);
}

/// Names the operation for the ledger.  The outermost one counts, as in a profile of the real program.
class Op {
 public:
  Op(Run& run, const char* name) : run_(run), before_(run.op) {
    if (before_[0] == '-') run.op = name;
    ++run.beginning.depth;
    begin();
  }
  Op(const Tensor& of, const char* name) : Op(of.run(), name) { run_.use(of); }
  Op(const Tensor& a, const Tensor& b, const char* name) : Op(a, name) { run_.use(b); }
  ~Op() {
    run_.op = before_;
    if (--run_.beginning.depth > 0) begin();
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

 private:
  void begin() {
    if (run_.work && !run_.computes_backward()) ++run_.work->forward_operations;
    ++run_.beginning.number;
    run_.beginning.entry = run_.ledger().size();
  }

  Run& run_;
  const char* before_;
};

/// Sets a member of the run for a while: torch.no_grad(), a module's forward, a phase.
template <class T>
class Setting {
 public:
  Setting(T& place, T value) : place_(place), before_(std::exchange(place, std::move(value))) {}
  ~Setting() { place_ = std::move(before_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  T& place_;
  T before_;
};

/// Hooks' doings are no operation of the model's: the running one goes on behind them.
struct AsideOfOperations : Setting<Run::Beginning> {
  explicit AsideOfOperations(Run& run) : Setting(run.beginning, run.beginning) {}
};

struct NoGrad : Setting<bool> {
  explicit NoGrad(Run& run) : Setting(run.grad_enabled, false) {}
};

}  // namespace tidemark
