// The one report of Tidemark (`tidemark.report/1`), whichever engine made it.  Data only; see docs/reference.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "memory/device_memory.h"

namespace tidemark {

enum class Phase { load, forward, backward, optimizer, prefill, decode, other };

/// The card, as far as the verdict needs it; memory/card.h has the rest.
struct ReportCard {
  std::string key, name;
  std::int64_t total_bytes = 0, driver_reserved_bytes = 0, context_bytes = 0;
  bool wddm = false;
};

struct Peak {
  std::int64_t allocated_bytes = 0;  // live tensors, rounded to 512
  std::int64_t reserved_bytes = 0;   // what the caching allocator holds
  std::int64_t device_bytes = 0;     // what nvidia-smi shows: reserved, and all of Report::device
  std::int64_t requested_bytes = 0;  // live tensors, before rounding
  std::int64_t step = 0;
  Phase phase = Phase::other;
  // The most that the device held at one time, if the program unmaps reserved memory (sleep mode).
  std::optional<std::int64_t> physical_bytes = {};
};

/// What the device holds beside the allocator's segments.
struct DeviceItem {
  std::string name;  // "context", "libraries", "communicators", "engine", "driver"
  BytesRange bytes;
  std::string what;
};

/// A communicator that the rank has made, and what it has taken of the device.
struct CommunicatorReport {
  Communicator communicator;
  BytesRange bytes;
};

/// What is kept free: a quantile of how far measured peaks were above predicted ones.
struct Margin {
  std::string quantile;        // "p90"
  std::string of;              // the modality of the rows, or "all"
  std::int64_t residuals = 0;  // how many there are
  double share = 0;            // (measured - predicted) / predicted
  std::int64_t bytes = 0;      // that share of the peak, or nothing where it is below 0
};

/// Bounds where more than one answer is true: the order of addresses, a cold compile cache.
struct Interval {
  std::int64_t allocated_low_bytes = 0, allocated_high_bytes = 0;
  std::int64_t reserved_low_bytes = 0, reserved_high_bytes = 0;
  std::string why;
};

struct PhaseReport {
  Phase phase = Phase::other;
  std::int64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0, end_allocated_bytes = 0;
};

struct StepReport {
  std::int64_t step = 0;
  std::int64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0, end_allocated_bytes = 0;
  std::vector<PhaseReport> phases;
};

/// A part of a step that its trainer names, over all steps.
struct StageReport {
  std::string name;  // "rollout", "reference log-probabilities"
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t kept_bytes = 0;  // allocated behind it that was not before, at most
};

/// An input of the training whose shape was not the same in every step.
struct VaryingInput {
  std::string name;                             // "input_ids"
  std::int64_t shapes = 0;                      // how many different ones
  std::vector<std::int64_t> smallest, largest;  // by their number of elements
};

/// An input whose shape was not the same in all batches that were drawn; shapes by their number of elements.
struct DrawnInput {
  std::string name;
  std::int64_t shapes = 0;
  std::vector<std::int64_t> smallest, median, p90, largest;
};

/// An epoch of which all batches were drawn and some were trained on (`--data`).
struct DataReport {
  std::int64_t batches = 0, trained_batches = 0, batches_per_step = 1;
  bool whole = false;            // the peak is that of the whole epoch
  std::string why;               // … if it is not
  bool largest_trained = false;  // no batch is larger, in any dimension, than every one that was trained on
  std::vector<DrawnInput> inputs;
};

/// A run whose torch.compile began with a cold cache: Peak is without what compiling had for a while, these are with
/// it.
struct CompilingReport {
  std::int64_t graphs = 0;  // that were compiled
  std::int64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0;
};

struct NamedBytes {
  std::string name;
  std::int64_t bytes = 0;
};

/// An engine that serves a model, as far as it came: its own figures, beside which ours of the same run stand.
struct ServingReport {
  std::string engine, version;                              // "vllm", "0.33.0"
  std::vector<NamedBytes> terms;                            // of the device's memory as the engine divides it
  std::int64_t blocks = 0, block_tokens = 0, kv_bytes = 0;  // of the KV cache as it was allocated
  std::int64_t tokens = 0;                                  // that the cache holds
  std::int64_t length = 0, most_sequences = 0;  // tokens of a sequence at most; sequences of a batch at most
  double concurrency = 0;                       // sequences of that length that the cache holds at a time
  std::int64_t requests = 0, answered = 0;      // that were sent to it, and that it answered
  std::string failure;                          // the first that it did not
  std::string refusal;                          // why it did not start, in its own words
  bool for_memory = false;                      // … for want of memory
};

/// What is live at the peak, told in four ways; each list adds up to the peak's allocated bytes.
struct AtPeak {
  std::vector<NamedBytes> by_category, by_module, by_line, by_operation;
};

struct TimelinePoint {
  std::int64_t event = 0;  // number of allocations and frees so far
  std::int64_t allocated_bytes = 0, reserved_bytes = 0, step = 0;
  Phase phase = Phase::other;
};

/// What is live of one category at each point of the timeline, in its order.
struct CategoryOverTime {
  std::string name;
  std::vector<std::int64_t> bytes;
};

struct OutOfMemoryReport {
  std::int64_t requested_bytes = 0;
  std::optional<std::int64_t> in_use_bytes;  // on the device at that moment, when it was recorded
  std::string message;                       // PyTorch's own text
  std::int64_t step = 0;
  Phase phase = Phase::other;
  std::string where;                 // the line of the user's program
  std::int64_t allocated_bytes = 0;  // live tensors at that moment; 0: not recorded
};

struct Assumption {
  std::string what, where;
  std::int64_t count = 1;
  bool moves_peak = false;  // by over 1 % where it does not hold: never left out
};

/// A change that makes a training fit: keys of a spec, and the device's bytes then.
struct Remedy {
  Value change;
  std::int64_t device_bytes = 0;
};

struct ScriptInfo {
  std::vector<std::string> command;
  std::int64_t exit_code = 0;
  std::optional<std::int64_t> stopped_after_steps;  // set when Tidemark ended the program early
};

struct HostUse {
  std::int64_t peak_rss_bytes = 0;  // of our own processes
  double seconds = 0;
  // Of the rank's process, each at its own peak: what PyTorch's CPU allocator had handed out, and what was page-locked.
  std::optional<std::int64_t> pageable_bytes, pinned_bytes;
  // Managed memory at its peak: on the card while it has room, and otherwise on the host.
  std::int64_t managed_bytes = 0;
};

/// One of many: which rank the report is about.
struct RankOf {
  std::int64_t rank = 0, ranks = 1, ranks_per_node = 1;
};

/// A row of a report on all ranks.
struct RankReport {
  std::int64_t rank = 0;
  Peak peak;
  std::optional<std::int64_t> pageable_bytes, pinned_bytes;
  std::optional<bool> fits;
};

/// The training that was predicted.
struct TrainingReport {
  std::string model_type;
  Value options = Value::Map();                         // keys of a spec that differ from their defaults
  std::int64_t parameters = 0;                          // of the model, before adapters
  std::optional<std::int64_t> trained_parameters = {};  // adapters among them; none: not loaded, or cut into stages
};

/// The text that was generated.
struct GenerationReport {
  std::int64_t batch = 1, prompt_tokens = 0, new_tokens = 0;
  std::int64_t cache_bytes = 0, cached_tokens = 0;  // of all samples, and of each, behind the last pass
};

/// Bytes of each sample's keys and values: of layers that hold all tokens, and of those that hold the last ones alone.
struct KvCacheReport {
  std::int64_t layers = 0, bytes_per_token = 0;
  std::int64_t window_layers = 0, window_bytes_per_token = 0, window_tokens = 0;
  std::int64_t state_layers = 0;  // that hold a state of a fixed size, which is not counted
};

struct Report {
  std::string engine = "run";  // or "predict"
  std::optional<bool> fits;    // empty when an interval lies on both sides of the card's limit
  std::string verdict;
  ReportCard card;
  Peak peak;
  std::vector<DeviceItem> device;
  std::vector<CommunicatorReport> communicators;
  std::int64_t engine_bytes = 0;  // of a vLLM on the same GPU; in `device`, too
  std::optional<Margin> margin;
  std::optional<Interval> interval;
  std::vector<StepReport> steps;
  std::vector<StageReport> stages;
  std::vector<VaryingInput> varying_inputs;
  std::optional<DataReport> data;
  std::optional<CompilingReport> compiling;
  std::optional<ServingReport> serving;
  AtPeak at_peak;
  std::vector<TimelinePoint> timeline;
  std::vector<CategoryOverTime> timeline_by_category;  // of those that have any; empty where it is not known
  std::optional<OutOfMemoryReport> oom;
  std::vector<Remedy> remedies;  // of what does not fit
  std::vector<Assumption> assumptions;
  std::optional<TrainingReport> training;  // of a prediction
  std::optional<GenerationReport> generation;
  std::optional<KvCacheReport> kv_cache;  // of a prediction whose configuration says it
  std::map<std::string, std::string> versions;
  std::map<std::string, std::string> sources;  // of versions and of the model, where nobody said them
  ScriptInfo script;
  HostUse host;
  std::optional<RankOf> rank;      // empty in a world of one
  std::vector<RankReport> ranks;   // with --all-ranks
  std::optional<bool> consistent;  // whether the events add up to the allocator's own counters
};

}  // namespace tidemark
