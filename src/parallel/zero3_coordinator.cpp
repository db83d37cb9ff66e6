#include "parallel/zero3_coordinator.h"

#include <algorithm>
#include <limits>

namespace tidemark {
namespace {

using Status = Zero3Parameter::Status;

constexpr std::uint8_t kFetchEvents = 0;  // __ongoing_fetch_events
constexpr std::uint32_t kMaxOngoingFetchEvents = 2;

template <class T>
void add_once(std::vector<T>& list, T value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

template <class T>
void discard(std::vector<T>& list, T value) {
  list.erase(std::remove(list.begin(), list.end(), value), list.end());
}

}  // namespace

Zero3Parameters Zero3Module::parameters() const {
  Zero3Parameters all = own;
  for (Zero3Parameter* parameter : external) add_once(all, parameter);
  return all;
}

Zero3Parameters Zero3Module::all_parameters() const {
  Zero3Parameters all = within;
  for (Zero3Parameter* parameter : external) add_once(all, parameter);
  return all;
}

Coordinator::Coordinator(Run& run, ParameterStore& store, const Zero3Options& options)
    : run_(run), store_(store), options_(options), gather_stream_(options.overlap_comm ? kAllGatherStream : 0) {}

void Coordinator::reset_step() {
  clean_in_flight();
  if (trace_ != Trace::complete) {
    compare_with_other_ranks(order_.size());
    if (trace_ == Trace::record)
      finish_trace();
    else
      trace_ = Trace::record;
  } else {
    ++known_passes_;
  }
  queue_.assign(uses_.begin(), uses_.end());
  last_steps_.clear();
  step_ = live_ = 0;
}

/// construct_parameter_trace_from_module_trace
void Coordinator::finish_trace() {
  uses_.clear();
  for (std::size_t step = 0; step < order_.size(); ++step) {
    Zero3Parameters used = order_[step]->parameters();
    std::sort(used.begin(), used.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
    for (Zero3Parameter* parameter : used) uses_.push_back({parameter, static_cast<std::int64_t>(step)});
  }
  compare_with_other_ranks(uses_.size());
  compare_with_other_ranks(uses_.size());
  trace_ = Trace::complete;
}

void Coordinator::compare_with_other_ranks(std::size_t count) {
  const Setting<Category> category(run_.category, Category::communication);
  const Op op(run_, "aten::to");
  empty(run_, Dims{}, Dtype::int64).reset();
  empty(run_, Dims{static_cast<std::int64_t>(count)}, Dtype::int64).reset();
  run_.stream_calls.host_waits();
}

void Coordinator::clean_in_flight() {
  const Setting<Category> category(run_.category, Category::parameters);
  for (Zero3Parameter* parameter : in_flight_) {
    parameter->handle->wait();
    release(*parameter);
  }
  for (Zero3Parameter* parameter : in_flight_) parameter->handle.reset();
  in_flight_.clear();
}

void Coordinator::invalidate() {
  trace_ = Trace::invalid;
  known_passes_ = 0;
  order_.clear();
  uses_.clear();
  queue_.clear();
  last_steps_.clear();
  clean_in_flight();
}

/// trace_prologue
void Coordinator::check_trace(const Zero3Module& module) {
  if (trace_ != Trace::complete) return;
  const auto step = static_cast<std::size_t>(step_);
  if (step >= order_.size() || order_[step] != &module) invalidate();
}

/// pre_sub_module_{forward,backward}_function
void Coordinator::enter(Zero3Module& module, bool forward) {
  check_trace(module);
  if (trace_ == Trace::record) order_.push_back(&module);
  if (!forward) add_once(active_backward_, &module);
  fetch(module, forward);
}

/// _fetch_sub_module_impl
void Coordinator::fetch(Zero3Module& module, bool forward) {
  const Zero3Parameters parameters = module.parameters();
  start_gather(parameters);
  for (Zero3Parameter* parameter : parameters) {
    add_once(parameter->active, static_cast<const Zero3Module*>(&module));
    if (forward && run_.in_backward && !active_backward_.empty() && !parameter->trains()) {
      Zero3Module* owner = active_backward_.back();
      add_once(owner->recomputed, parameter);
      add_once(parameter->active, static_cast<const Zero3Module*>(owner));
    }
    await(*parameter);
  }
  run_.stream_calls.wait_stream(run_.stream, gather_stream_);
  if (trace_ == Trace::complete) {
    forget_fetched(parameters);
    prefetch();
  }
  ++step_;
}

void Coordinator::await(Zero3Parameter& parameter) {
  {
    const Setting<StreamId> stream(run_.stream, gather_stream_);
    if (parameter.handle) {
      run_.stream_calls.drop_done(kFetchEvents);
      run_.stream_calls.wait_for_oldest(kFetchEvents, kMaxOngoingFetchEvents + 1);
      land(parameter);
      run_.stream_calls.queue_event(kFetchEvents, run_.stream);
    }
  }
  TM_CHECK(parameter.status == Status::available, "a parameter is not there when its module is called");
}

/// inflight_param_registry.pop(param).wait()
void Coordinator::land(Zero3Parameter& parameter) {
  if (!parameter.handle) return;
  const Setting<Category> category(run_.category, Category::parameters);
  const std::shared_ptr<GatherHandle> handle = std::move(parameter.handle);
  discard(in_flight_, &parameter);
  handle->wait();
}

/// __all_gather_params_
void Coordinator::start_gather(const Zero3Parameters& parameters) {
  Zero3Parameters missing;
  for (Zero3Parameter* parameter : parameters) {
    if (parameter->status != Status::not_available) continue;
    missing.push_back(parameter);
    live_ += parameter->elements;
  }
  if (missing.empty()) return;
  const Setting<StreamId> stream(run_.stream, gather_stream_);
  const std::shared_ptr<GatherHandle> handle = store_.start_gather(missing);
  for (Zero3Parameter* parameter : missing) {
    parameter->handle = handle;
    in_flight_.push_back(parameter);
  }
}

std::int64_t Coordinator::last_step_of(const Zero3Parameter& parameter) const {
  const auto known = last_steps_.find(&parameter);
  return known == last_steps_.end() ? std::numeric_limits<std::int64_t>::min() : known->second;
}

/// What this module needs is taken off the queue, unless it was gathered ahead.
void Coordinator::forget_fetched(const Zero3Parameters& parameters) {
  std::set<const Zero3Parameter*> expected, discarded;
  for (const Zero3Parameter* parameter : parameters)
    if (last_step_of(*parameter) < step_) expected.insert(parameter);
  while (!queue_.empty() && discarded.size() < expected.size()) {
    const Use use = queue_.front();
    queue_.pop_front();
    last_steps_[use.parameter] = use.step;
    discarded.insert(use.parameter);
  }
  TM_CHECK(discarded == expected, "the trace of parameters is not that of the modules");
}

void Coordinator::prefetch() {
  const std::int64_t most = std::min(options_.max_live_parameters - live_, options_.prefetch_bucket_size);
  if (options_.prefetch_bucket_size <= 0) return;
  Zero3Parameters chosen;
  std::int64_t elements = 0;
  while (!queue_.empty() && elements < most) {
    const Use use = queue_.front();
    queue_.pop_front();
    const bool is_new = use.parameter->status == Status::not_available &&
                        std::find(chosen.begin(), chosen.end(), use.parameter) == chosen.end();
    last_steps_[use.parameter] = std::max(last_step_of(*use.parameter), use.step);
    if (!is_new) continue;
    chosen.push_back(use.parameter);
    elements += use.parameter->elements;
  }
  start_gather(chosen);
}

/// __params_to_release, which is asked once for each step and module, and remembers.
std::set<const Zero3Parameter*>& Coordinator::to_release(const Zero3Module& module) {
  const auto [entry, is_new] = to_release_.try_emplace({&module, step_});
  std::set<const Zero3Parameter*>& chosen = entry->second;
  if (!is_new) return chosen;
  for (const Zero3Parameter* parameter : module.parameters())
    if (!parameter->persistent && last_step_of(*parameter) <= step_) chosen.insert(parameter);
  std::int64_t elements = 0;
  for (auto step = static_cast<std::size_t>(step_); step < order_.size(); ++step) {
    if (elements >= options_.max_reuse_distance) break;
    // Whether the others' parameters are taken with all in them is asked of the module that is released.
    const Zero3Module& later = *order_[step];
    for (const Zero3Parameter* parameter : module.is_leaf ? later.all_parameters() : later.parameters()) {
      chosen.erase(parameter);
      elements += parameter->elements;
    }
  }
  return chosen;
}

/// release_sub_module
void Coordinator::release_module(Zero3Module& module, bool forward) {
  Zero3Parameters parameters = module.parameters();
  std::set<const Zero3Parameter*> all(parameters.begin(), parameters.end());
  std::set<const Zero3Parameter*>& chosen = trace_ == Trace::complete ? to_release(module) : all;
  if (!forward) {
    TM_CHECK(!active_backward_.empty(), "a module is left backward that was not entered");
    for (Zero3Parameter* parameter : module.recomputed) {
      if (!parameter->persistent) chosen.insert(parameter);
      add_once(parameters, parameter);
    }
    module.recomputed.clear();
    discard(active_backward_, &module);
  }
  for (Zero3Parameter* parameter : parameters) {
    discard(parameter->active, static_cast<const Zero3Module*>(&module));
    if (chosen.contains(parameter)) release(*parameter);
  }
}

void Coordinator::release_backward_leftovers() {
  while (!active_backward_.empty()) {
    Zero3Module* module = active_backward_.back();
    active_backward_.pop_back();
    Zero3Parameters parameters = module->parameters();
    for (Zero3Parameter* parameter : module->recomputed) add_once(parameters, parameter);
    module->recomputed.clear();
    for (Zero3Parameter* parameter : parameters) {
      discard(parameter->active, static_cast<const Zero3Module*>(module));
      if (!parameter->persistent) release(*parameter);
    }
  }
}

void Coordinator::release_and_reset_all() {
  for (Zero3Parameter* parameter : store_.all()) {
    land(*parameter);
    parameter->active.clear();
    release(*parameter);
  }
}

void Coordinator::release(Zero3Parameter& parameter) {
  if (parameter.status != Status::available || !parameter.active.empty()) return;
  store_.partition(parameter);
  live_ -= parameter.elements;
}

}  // namespace tidemark
