#include "parallel/zero3_parameters.h"

#include <algorithm>

namespace tidemark {
namespace {

using Status = Zero3Parameter::Status;

Tensor buffer(Run& run, const char* name, std::int64_t elements) {
  const Op op(run, name);
  return empty(run, Dims{elements}, Dtype::bf16);
}

void show(Zero3Parameter& parameter, Ref<Storage> storage, Status status) {
  parameter.tensor.impl().storage = std::move(storage);
  parameter.status = status;
}

}  // namespace

/// Several parameters: each is put together from the parts of all ranks, in memory of its own.
void GatherHandle::wait() {
  if (complete_) return;
  complete_ = true;
  if (gathered_)
    run_.stream_calls.stream_waits(run_.stream, *gathered_);
  else
    run_.stream_calls.host_waits();
  held_.clear();
  for (Zero3Parameter* parameter : parameters_) {
    TM_CHECK(parameter->status == Status::inflight, "a parameter is gathered twice");
    parameter->status = Status::available;
    if (flat_) parameter->tensor.impl().storage = buffer(run_, "aten::cat", parameter->elements).impl().storage;
  }
  if (flat_) run_.record_stream(*flat_.impl().storage, run_.stream);
}

ParameterStore::ParameterStore(Run& run, Module& root, const Zero3Options& options)
    : run_(run), options_(options), nothing_(run.allocate(0)) {
  visit_parameters(root, [&](const Module&, Parameter& parameter) {
    indices_.emplace(&parameter.tensor.impl(), parameters_.size());
    Zero3Parameter& added = parameters_.emplace_back();
    added.tensor = parameter.tensor;
    added.id = parameters_.size() - 1;
    added.elements = parameter.tensor.elements();
    added.part_elements = (added.elements + options.ranks - 1) / options.ranks;
  });
  for (Zero3Parameter& parameter : parameters_) cut(parameter);
}

Zero3Parameter* ParameterStore::find(const Tensor& tensor) {
  const auto known = indices_.find(&tensor.impl());
  return known == indices_.end() ? nullptr : &parameters_[known->second];
}

Zero3Parameter& ParameterStore::of(const Tensor& tensor) {
  Zero3Parameter* found = find(tensor);
  TM_CHECK(found, "no parameter of the model");
  return *found;
}

/// Init._partition_param, for the first time.
void ParameterStore::cut(Zero3Parameter& parameter) {
  if (!options_.offload_param) {
    parameter.part = buffer(run_, "aten::empty", parameter.part_elements).impl().storage;
    run_.set_module(*parameter.part, run_.module_of(*parameter.tensor.impl().storage));
  }
  parameter.tensor.impl().layout.strides = contiguous_strides(parameter.tensor.sizes());
  partition(parameter);
}

/// free_param
void ParameterStore::partition(Zero3Parameter& parameter) {
  if (parameter.status != Status::available) return;
  run_.record_stream(*parameter.tensor.impl().storage, run_.stream);
  show(parameter, nothing_, Status::not_available);
}

/// ds_tensor.to(device)
Ref<Storage> ParameterStore::on_device(const Zero3Parameter& parameter) {
  if (parameter.part) return parameter.part;
  return buffer(run_, "aten::to", parameter.part_elements).impl().storage;
}

std::shared_ptr<GatherHandle> ParameterStore::start_gather(Zero3Parameters parameters) {
  const Setting<Category> category(run_.category, Category::parameters);
  std::sort(parameters.begin(), parameters.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  auto handle = std::make_shared<GatherHandle>(run_, parameters);
  for (Zero3Parameter* parameter : parameters) parameter->status = Status::inflight;
  if (options_.ranks == 1) {  // _no_gather_coalesced
    for (Zero3Parameter* parameter : parameters) parameter->tensor.impl().storage = on_device(*parameter);
  } else if (parameters.size() == 1) {  // _all_gather_sequential
    Zero3Parameter& only = *parameters.front();
    only.tensor.impl().storage = buffer(run_, "aten::empty", whole_elements(only)).impl().storage;
    handle->held_.push_back(on_device(only));
  } else {  // _all_gather_dtype
    std::int64_t elements = 0;
    for (const Zero3Parameter* parameter : parameters) elements += whole_elements(*parameter);
    handle->flat_ = buffer(run_, "aten::empty", elements);
    std::vector<Ref<Storage>> parts;
    for (const Zero3Parameter* parameter : parameters) parts.push_back(on_device(*parameter));
  }
  if (options_.ranks > 1) handle->gathered_ = run_.stream_calls.start_collective(kNcclStream, run_.stream);
  return handle;
}

void ParameterStore::gather_alone(Zero3Parameter& parameter) {
  const Ref<Storage> whole = buffer(run_, "aten::empty", whole_elements(parameter)).impl().storage;
  run_.stream_calls.host_waits_for_all();
  on_device(parameter).reset();
  show(parameter, whole, Status::available);
}

/// Init._all_gather
void ParameterStore::gather(const Zero3Parameters& parameters) {
  const Setting<Category> category(run_.category, Category::parameters);
  Zero3Parameters missing;
  for (Zero3Parameter* parameter : parameters)
    if (parameter->status == Status::not_available) missing.push_back(parameter);
  if (missing.size() == 1) return gather_alone(*missing.front());
  std::vector<Ref<Storage>> parts;
  for (Zero3Parameter* parameter : missing) parts.push_back(on_device(*parameter));
  for (std::size_t i = 0; i < missing.size(); ++i)
    show(*missing[i],
         options_.ranks == 1 ? parts[i] : buffer(run_, "aten::empty", whole_elements(*missing[i])).impl().storage,
         Status::available);
  run_.stream_calls.host_waits_for_all();
}

Tensor ParameterStore::defragment() {
  std::int64_t elements = 0;
  for (Zero3Parameter& parameter : parameters_) {
    if (!parameter.trains()) continue;
    elements += parameter.part_elements;
    parameter.part.reset();
  }
  run_.empty_cache();
  const Tensor flat = buffer(run_, "aten::to", elements);
  for (Zero3Parameter& parameter : parameters_)
    if (parameter.trains()) parameter.part = flat.impl().storage;
  return flat;
}

}  // namespace tidemark
