// What libraries and communicators take, in figures that are easy to add up: a page of 2, connections of 2 and 10.
#pragma once
#include "memory/device_memory.h"

namespace tidemark {

inline DeviceMemoryTable sample_device_memory() {
  DeviceMemoryTable table;
  table.library_bytes = {5, 20, 40};
  NcclMemory& nccl = table.nccl;
  nccl.version = "2.28.9";
  nccl.granularity_bytes = 2;
  nccl.made_allocations = 2, nccl.channel_allocations = 3;
  nccl.control_bytes = 1;
  nccl.ll_bytes = 1, nccl.ll128_bytes = 4, nccl.simple_bytes = 4;
  nccl.shared_network_bytes = 7;
  nccl.nvls_bytes = 1, nccl.nvls_channels = 100;
  nccl.alone_bytes = {1, 3, 9};
  nccl.channels = {{"nvlink", false, {1, 2, 3}, {1, 4, 4}},
                   {"nvlink", true, {1, 2, 2}, {1, 2, 2}},
                   {"pcie", false, {1, 1, 2}, {1, 1, 2}},
                   {"pcie", true, {1, 1, 2}, {1, 1, 2}}};
  return table;
}

}  // namespace tidemark
