#include "parallel/zero3_parameters.h"

#include <algorithm>

#include "base/error.h"

namespace tidemark {
namespace {

using Status = Zero3Parameter::Status;

Tensor buffer(Run& run, const char* name, std::int64_t elements, Dtype dtype) {
  const Op op(run, name);
  return empty(run, Dims{elements}, dtype);
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
    if (!flat_.empty())
      parameter->tensor.impl().storage =
          buffer(run_, "aten::cat", parameter->elements, parameter->dtype()).impl().storage;
  }
  for (const Tensor& flat : flat_) run_.record_stream(*flat.impl().storage, run_.stream);
}

ParameterStore::ParameterStore(Run& run, const Zero3Options& options)
    : run_(run), options_(options), nothing_(run.allocate(0)) {}

Zero3Parameter& ParameterStore::add(const Tensor& tensor) {
  Zero3Parameter& added = parameters_.emplace_back();
  added.tensor = tensor;
  added.elements = tensor.elements();
  added.part_elements = (added.elements + options_.ranks - 1) / options_.ranks;
  known_.emplace(&tensor.impl(), &added);
  return added;
}

Zero3Parameter& ParameterStore::make(const Tensor& tensor) {
  Zero3Parameter& made = add(tensor);
  show(made, buffer(run_, "aten::empty", made.elements, made.dtype()).impl().storage, Status::available);
  return made;
}

void ParameterStore::convert(Module& root) {
  visit_parameters(root, [&](const Module&, Parameter& parameter) {
    Zero3Parameter* known = find(parameter.tensor);
    if (!known) cut(*(known = &add(parameter.tensor)));
    all_.push_back(known);
  });
}

Zero3Parameter* ParameterStore::find(const Tensor& tensor) {
  const auto known = known_.find(&tensor.impl());
  return known == known_.end() ? nullptr : known->second;
}

Zero3Parameter& ParameterStore::of(const Tensor& tensor) {
  Zero3Parameter* found = find(tensor);
  TM_CHECK(found, "no parameter of the model");
  return *found;
}

void ParameterStore::cut(Zero3Parameter& parameter) {
  parameter.id = cut_++;
  if (!options_.offload_param) {
    parameter.part = buffer(run_, "aten::empty", parameter.part_elements, parameter.dtype()).impl().storage;
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
  return buffer(run_, "aten::to", parameter.part_elements, parameter.dtype()).impl().storage;
}

/// _all_gather_dtype
void ParameterStore::gather_of_type(GatherHandle& handle, Dtype dtype) {
  std::int64_t elements = 0;
  for (const Zero3Parameter* parameter : handle.parameters_)
    if (parameter->dtype() == dtype) elements += whole_elements(*parameter);
  if (elements == 0) return;
  handle.flat_.push_back(buffer(run_, "aten::empty", elements, dtype));
  std::vector<Ref<Storage>> parts;
  for (const Zero3Parameter* parameter : handle.parameters_)
    if (parameter->dtype() == dtype) parts.push_back(on_device(*parameter));
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
    only.tensor.impl().storage = buffer(run_, "aten::empty", whole_elements(only), only.dtype()).impl().storage;
    handle->held_.push_back(on_device(only));
  } else {
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32}) gather_of_type(*handle, dtype);
  }
  if (options_.ranks > 1) handle->gathered_ = run_.stream_calls.start_collective(kNcclStream, run_.stream);
  return handle;
}

void ParameterStore::gather_alone(Zero3Parameter& parameter) {
  const Ref<Storage> whole = buffer(run_, "aten::empty", whole_elements(parameter), parameter.dtype()).impl().storage;
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
         options_.ranks == 1
             ? parts[i]
             : buffer(run_, "aten::empty", whole_elements(*missing[i]), missing[i]->dtype()).impl().storage,
         Status::available);
  run_.stream_calls.host_waits_for_all();
}

Tensor ParameterStore::defragment() {
  std::int64_t elements = 0;
  std::optional<Dtype> dtype;
  for (Zero3Parameter* parameter : all_) {
    if (!parameter->trains()) continue;
    if (dtype.value_or(parameter->dtype()) != parameter->dtype())
      throw Error(Errc::bad_value, "DeepSpeed does not train weights of two types", "lora.adapter_dtype");
    dtype = parameter->dtype();
    elements += parameter->part_elements;
    parameter->part.reset();
  }
  run_.empty_cache();
  const Tensor flat = buffer(run_, "aten::to", elements, dtype.value_or(Dtype::bf16));
  for (Zero3Parameter* parameter : all_)
    if (parameter->trains()) parameter->part = flat.impl().storage;
  return flat;
}

}  // namespace tidemark
