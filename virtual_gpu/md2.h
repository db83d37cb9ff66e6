// The MD2 message digest (RFC 1319), and HMAC (RFC 2104) with it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

using Md2Digest = std::array<std::uint8_t, 16>;

Md2Digest md2(std::span<const std::uint8_t> message);

/// `key` must not be longer than MD2's block, 16 bytes.
Md2Digest hmac_md2(std::span<const std::uint8_t> key, std::span<const std::uint8_t> message);

}  // namespace tidemark
