// data/device_memory.json: what libraries and communicators take of a card.
#pragma once
#include <string>
#include <string_view>

#include "memory/device_memory.h"

namespace tidemark::io {

inline constexpr const char* kDeviceMemorySchema = "tidemark.device_memory/1";

class ObjectReader;

/// A number, or {"low": …, "typical": …, "high": …} in that order.
BytesRange read_range(ObjectReader& reader, const char* key);

/// Throws Error{bad_file}.  `where` names the file in messages.
DeviceMemoryTable read_device_memory(std::string_view text, const std::string& where);

}  // namespace tidemark::io
