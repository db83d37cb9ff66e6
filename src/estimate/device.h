// The account of what the device holds beside PyTorch's allocator, in either engine's report.
#pragma once
#include <vector>

#include "estimate/report.h"
#include "memory/card.h"

namespace tidemark {

/// Fills in report.card, report.device, and what each of report.communicators takes.
void account_for_device(Report& report, const Card& card);

/// The typical sizes of what these communicators take.
std::int64_t taken_by(const std::vector<Communicator>& communicators, const Card& card);

/// Of the card, what PyTorch's allocator never gets: the context and the libraries, as they are before the first
/// allocation.
std::int64_t taken_at_start_bytes(const Card& card);

}  // namespace tidemark
