#include "io/device_memory_json.h"

#include <fmt/format.h>

#include "io/json_reader.h"

namespace tidemark::io {
namespace {

ChannelCounts read_channels(const Json& json, const std::string& where) {
  ObjectReader reader(json, where);
  ChannelCounts counts;
  counts.link = reader.text("link");
  const std::string nodes = reader.text("nodes");
  if (nodes != "one" && nodes != "several") reader.fail("nodes", "\"one\" or \"several\"", reader.any("nodes"));
  counts.across_nodes = nodes == "several";
  counts.collective = read_range(reader, "collective");
  counts.point_to_point = read_range(reader, "point_to_point");
  reader.text("source");
  reader.finish();
  return counts;
}

NcclMemory read_nccl(ObjectReader reader) {
  NcclMemory nccl;
  nccl.version = reader.text("version");
  nccl.granularity_bytes = reader.number("granularity_bytes");
  if (nccl.granularity_bytes == 0) reader.fail("granularity_bytes", "more than 0", reader.any("granularity_bytes"));
  nccl.made_allocations = reader.number("made_allocations");
  nccl.channel_allocations = reader.number("channel_allocations");
  nccl.control_bytes = reader.number("control_bytes");
  nccl.ll_bytes = reader.number("ll_bytes");
  nccl.ll128_bytes = reader.number("ll128_bytes");
  nccl.simple_bytes = reader.number("simple_bytes");
  nccl.shared_network_bytes = reader.number("shared_network_bytes");
  nccl.nvls_bytes = reader.number("nvls_bytes");
  nccl.nvls_channels = reader.number("nvls_channels");
  reader.object("sources");
  ObjectReader alone = reader.object("alone");
  nccl.alone_bytes = read_range(alone, "bytes");
  alone.text("source");
  alone.finish();
  const Json& channels = reader.array("channels");
  for (const Json& one : channels)
    nccl.channels.push_back(read_channels(one, fmt::format("{}[{}]", reader.path("channels"), nccl.channels.size())));
  reader.finish();
  return nccl;
}

}  // namespace

BytesRange read_range(ObjectReader& reader, const char* key) {
  const Json& value = reader.any(key);
  if (!value.is_object()) {
    const std::int64_t bytes = reader.number(key);
    return {bytes, bytes, bytes};
  }
  ObjectReader range = reader.object(key);
  const BytesRange bytes{.low = range.number("low"), .typical = range.number("typical"), .high = range.number("high")};
  range.finish();
  if (bytes.low > bytes.typical || bytes.typical > bytes.high) reader.fail(key, "low <= typical <= high", value);
  return bytes;
}

DeviceMemoryTable read_device_memory(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  ObjectReader reader(json, where);
  reader.schema(kDeviceMemorySchema);
  DeviceMemoryTable table;
  ObjectReader libraries = reader.object("libraries");
  table.library_bytes = read_range(libraries, "bytes");
  libraries.array("measured");
  libraries.text("source");
  libraries.finish();
  table.nccl = read_nccl(reader.object("nccl"));
  reader.finish();
  return table;
}

}  // namespace tidemark::io
