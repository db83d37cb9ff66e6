#include "estimate/device.h"

#include <fmt/format.h>

namespace tidemark {
namespace {

DeviceItem communicators_item(const Report& report) {
  DeviceItem item{"communicators", {}, fmt::format("buffers of {} of NCCL", report.communicators.size())};
  for (const CommunicatorReport& one : report.communicators) item.bytes += one.bytes;
  return item;
}

}  // namespace

std::int64_t taken_by(const std::vector<Communicator>& communicators, const Card& card) {
  BytesRange sum;
  for (const Communicator& one : communicators) sum += total_bytes(card.beside.nccl, card.link.kind, one);
  return sum.typical;
}

std::int64_t engine_bytes(const Spec& spec, const Card& card) {
  const double share = spec.grpo ? spec.grpo->vllm_gpu_memory_utilization : 0;
  return static_cast<std::int64_t>(static_cast<double>(card.total_bytes) * share);
}

std::int64_t taken_at_start_bytes(const Card& card) {
  return checked_add(card.context_bytes.typical, card.beside.library_bytes.typical);
}

void account_for_device(Report& report, const Card& card) {
  report.card = {card.key, card.name, card.total_bytes, card.driver_reserved_bytes, card.context_bytes.typical,
                 card.wddm};
  for (CommunicatorReport& one : report.communicators)
    one.bytes = total_bytes(card.beside.nccl, card.link.kind, one.communicator);
  const std::int64_t driver = card.driver_reserved_bytes;
  report.device = {{"context", card.context_bytes, "the CUDA context"},
                   {"libraries", card.beside.library_bytes, "kernels and handles of cuBLAS, cuDNN and PyTorch"}};
  if (card.beside.library_bytes.typical < card.beside.library_bytes.high)
    report.assumptions.push_back(
        {fmt::format(
             "what cuBLAS, cuDNN and loaded kernels take of the device is not known: {} counted, up to {} published",
             format_bytes(card.beside.library_bytes.typical), format_bytes(card.beside.library_bytes.high)),
         {},
         1});
  if (!report.communicators.empty()) {
    report.device.push_back(communicators_item(report));
    report.assumptions.push_back(
        {fmt::format("buffers of communicators are those of NCCL {} with the channels that others logged over {}; "
                     "NCCL's own kernels are not counted",
                     card.beside.nccl.version, card.link.kind),
         {},
         1});
  }
  if (report.engine_bytes > 0) {
    const std::int64_t bytes = report.engine_bytes;
    report.device.push_back({"engine", {bytes, bytes, bytes}, "a vLLM engine on the same GPU"});
    report.assumptions.push_back(
        {fmt::format("vLLM keeps {} of this GPU from before the first step (vllm_gpu_memory_utilization), and does not "
                     "sleep",
                     format_bytes(bytes)),
         {},
         1,
         true});
  }
  if (card.wddm)
    report.assumptions.push_back(
        {"the desktop and other programs hold nothing of the card, and host memory has room for what Windows moves there",
         {},
         1,
         true});
  report.device.push_back({"driver", {driver, driver, driver}, "what no process can have"});
}

}  // namespace tidemark
