// The account of what the device holds beside PyTorch's allocator, in either engine's report.
#pragma once
#include <vector>

#include "estimate/report.h"
#include "estimate/spec.h"
#include "memory/card.h"

namespace tidemark {

/// Fills in report.card, report.device, and what each of report.communicators takes.
void account_for_device(Report& report, const Card& card);

/// The typical sizes of what these communicators take.
std::int64_t taken_by(const std::vector<Communicator>& communicators, const Card& card);

/// vLLM's share of the card, where it is colocated with a training.  vllm: v1/worker/gpu_worker.py,
/// requested_memory (0.33.0)
std::int64_t engine_bytes(const Spec& spec, const Card& card);

/// Of the card, what PyTorch's allocator never gets: the context and the libraries, as they are before the first
/// allocation.
std::int64_t taken_at_start_bytes(const Card& card);

}  // namespace tidemark
