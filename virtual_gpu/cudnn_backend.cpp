// libcudnn, the backend ("v8") interface: convolutions and attention.  Descriptors are the real library's own; what
// differs is that they are given the card's description where PyTorch gives a handle (cudnn_frontend's builders, ATen's
// Conv_v8.cpp and MHA.cpp), and that nothing is executed.  So which engine is taken, and how much workspace, is the
// real library's answer, and the order in which plans are tried is PyTorch's own.
#include "cudnn_abi.h"
#include "cudnn_plan.h"
#include "cudnn_real.h"
#include "device_clock.h"
#include "handles.h"
#include "notes.h"

namespace tidemark::cudnn {
namespace {

Status give_card(const Real& r, Descriptor descriptor, int name) {
  return r.set(descriptor, name, type::kDescriptor, 1, &r.card);
}

/// The program's handle is one of ours.  The real library is told of its own, or where it takes one of the card's
/// description.
Status give_handle(const Real& r, Descriptor descriptor, int name, const void* values) {
  if (r.card && name == attribute::kGraphHandle)
    return kSuccess;  // a graph needs none; its heuristics, engines and plans are told of the card
  if (r.card && name == attribute::kPlanHandle) return give_card(r, descriptor, attribute::kPlanDeviceProp);
  void* handle = real_handle(*static_cast<void* const*>(values));
  return handle ? r.set(descriptor, name, type::kHandle, 1, &handle) : kNotInitialized;
}

/// A program that describes the card itself, by its number or by a handle.
Status describe(const Real& r, Descriptor descriptor) {
  const std::string text = describe_card();
  return r.set(descriptor, attribute::kDevicePropJson, type::kChar, static_cast<std::int64_t>(text.size()),
               text.c_str());
}

}  // namespace
}  // namespace tidemark::cudnn

using namespace tidemark;
using namespace tidemark::cudnn;

#pragma GCC visibility push(default)
extern "C" {

Status cudnnBackendCreateDescriptor(int kind, Descriptor* descriptor) {
  const Real* r = real();
  return r ? r->create(kind, descriptor) : kNotInitialized;
}

Status cudnnBackendDestroyDescriptor(Descriptor descriptor) {
  const Real* r = real();
  if (!r) return kNotInitialized;
  forget_plan(descriptor);
  return r->destroy(descriptor);
}

Status cudnnBackendFinalize(Descriptor descriptor) {
  const Real* r = real();
  if (!r) return kNotInitialized;
  return leave_unbuilt(*r, descriptor) ? kSuccess : r->finalize(descriptor);
}

Status cudnnBackendSetAttribute(Descriptor descriptor, int name, int kind, std::int64_t count, const void* values) {
  const Real* r = real();
  if (!r) return kNotInitialized;
  if (name == attribute::kDevicePropId || name == attribute::kDevicePropHandle) return describe(*r, descriptor);
  if (kind == type::kHandle && count == 1) return give_handle(*r, descriptor, name, values);
  const Status status = r->set(descriptor, name, kind, count, values);
  if (status != kSuccess) return status;
  if (name == attribute::kPlanConfig) note_plan(descriptor, *static_cast<const Descriptor*>(values));
  // Both take the card besides their graph, and PyTorch sets the graph exactly once.
  if (r->card && name == attribute::kHeuristicGraph) return give_card(*r, descriptor, attribute::kHeuristicDeviceProp);
  if (r->card && name == attribute::kEngineGraph) return give_card(*r, descriptor, attribute::kEngineDeviceProp);
  return status;
}

Status cudnnBackendGetAttribute(Descriptor descriptor, int name, int kind, std::int64_t room, std::int64_t* count,
                                void* values) {
  const Real* r = real();
  if (!r) return kNotInitialized;
  if (std::int64_t bytes = 0; unbuilt_workspace(descriptor, &bytes)) {
    if (name != attribute::kPlanWorkspaceSize)
      return kNotSupported;  // its compiled form, which nobody asks for without running it
    if (count) *count = 1;
    if (room > 0) *static_cast<std::int64_t*>(values) = bytes;
    return kSuccess;
  }
  return r->get(descriptor, name, kind, room, count, values);
}

Status cudnnBackendExecute(void* handle, Descriptor, Descriptor variant_pack) {
  const Real* r = real();
  if (!r) return kNotInitialized;
  queue_work(stream_of(handle), 0);  // how long it takes follows from the operation's shapes
  void* workspace = nullptr;
  std::int64_t count = 0;
  if (r->get(variant_pack, attribute::kVariantPackWorkspace, type::kVoidPointer, 1, &count, &workspace) == kSuccess)
    note_role(workspace, Role::workspace);
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
