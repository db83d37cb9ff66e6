// libcuda, the tables of functions that only NVIDIA's own CUDA runtime asks for (cuGetExportTable).  PyTorch's runtime
// is stood in for whole; a library that has the runtime linked into it, as every library of cuDNN has, brings NVIDIA's
// and starts it over this driver.
//
// Tables, entries and what they return are not documented by NVIDIA; all of it is from ZLUDA (vosen/ZLUDA 8a7931b:
// dark_api/src/lib.rs, zluda/src/impl/driver.rs), and nothing more is answered here than the runtimes of
// CUDA 12.4, 12.8 and 13.1 call before cuDNN answers.  Entries that they do not call are null.
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "cuda_abi.h"
#include "device_attributes.h"
#include "devices.h"
#include "md2.h"
#include "modules.h"

using namespace tidemark;
using abi::Status;

extern "C" {  // cuda_driver.cpp
Status cuDriverGetVersion(int* version);
Status cuDeviceGetUuid_v2(void* uuid, int device);
Status cuDevicePrimaryCtxRetain(void** context, int device);
Status cuCtxGetCurrent(void** context);
}

namespace {

using Entry = const void*;

template <class Result, class... Arguments>
Entry entry(Result (*function)(Arguments...)) {
  return reinterpret_cast<Entry>(function);
}

/// The first word of most tables: their own size.
template <std::size_t kEntries>
Entry size_of_table() {
  return reinterpret_cast<Entry>(kEntries * sizeof(Entry));
}

// What the runtime needs of the driver besides its public functions: loading the fat binaries that a program was linked
// with.
Status module_of_fat_binary(void** module, const void* wrapper) {
  *module = load_module(wrapper);
  return abi::kSuccess;
}
Status module_of_fat_binary_1(void** module, const void* wrapper, void*, void*, unsigned) {
  return module_of_fat_binary(module, wrapper);
}
Status module_of_fat_binary_2(const void* binary, void** module, void*, void*, unsigned) {
  return module_of_fat_binary(module, binary);
}
Status primary_context(void** context, int device) { return cuDevicePrimaryCtxRetain(context, device); }
void entry_7(std::size_t) {}
Status load_compilers() { return abi::kSuccess; }

using RuntimeInterface = std::array<Entry, 13>;
const RuntimeInterface& runtime_interface() {
  static const RuntimeInterface table{size_of_table<13>(),
                                      entry(module_of_fat_binary),
                                      entry(primary_context),
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      entry(module_of_fat_binary_1),
                                      entry(entry_7),
                                      entry(module_of_fat_binary_2),
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      entry(load_compilers)};
  return table;
}

// Which of the runtime's functions a profiler wants to hear of: none.  One word for each of as many functions as the
// size says.
void api_subscriptions(void** flags, std::size_t* count) {
  static std::array<std::uint32_t, 1024> none{};
  *flags = none.data();
  *count = none.size();
}
void resource_subscriptions(void** flags, std::size_t* count) {
  static std::array<std::uint32_t, 14> none{};
  *flags = none.data();
  *count = none.size();
}

// What a runtime keeps with each context, by a key of its own.  The driver would call a value's destructor when the
// context goes: none does.
struct ContextStorage {
  std::mutex mutex;
  std::map<std::pair<void*, void*>, void*> values;
};
ContextStorage& context_storage() {
  static auto* all = new ContextStorage;
  return *all;
}
void* or_current(void* context) {
  if (!context) cuCtxGetCurrent(&context);
  return context;
}
Status put_in_context(void* context, void* key, void* value, void (*)(void*, void*, void*)) {
  const std::lock_guard lock(context_storage().mutex);
  context_storage().values[{or_current(context), key}] = value;
  return abi::kSuccess;
}
Status remove_from_context(void* context, void* key) {
  const std::lock_guard lock(context_storage().mutex);
  context_storage().values.erase({or_current(context), key});
  return abi::kSuccess;
}
Status get_from_context(void** value, void* context, void* key) {
  const std::lock_guard lock(context_storage().mutex);
  const auto found = context_storage().values.find({or_current(context), key});
  if (found == context_storage().values.end()) return abi::kInvalidHandle;
  *value = found->second;
  return abi::kSuccess;
}

Status check_context(void*, unsigned* result, const void**) {
  *result = 0;
  return abi::kSuccess;
}
unsigned entry_3_of_checks() { return 0; }

Status answer_integrity(unsigned version, std::uint64_t unix_seconds, std::uint8_t* answer);
using IntegrityCheck = std::array<Entry, 3>;
const IntegrityCheck& integrity_check() {
  static const IntegrityCheck table{size_of_table<3>(), entry(answer_integrity), nullptr};
  return table;
}

template <class T>
void append(std::vector<std::uint8_t>& message, const T& value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  message.insert(message.end(), bytes, bytes + sizeof value);
}

/// What a runtime asks at its start, to see that tables and devices are those that it has itself asked for: a keyed
/// digest of both.  Of versions that end in 0 and 1 the answer is always the same.  ZLUDA writes the digest out step by
/// step; it is HMAC-MD2.
Status answer_integrity(unsigned version, std::uint64_t unix_seconds, std::uint8_t* answer) {
  constexpr std::uint64_t kAlwaysLow[2] = {0x3341181C03CB675C, 0x1841181C03CB675C}, kAlwaysHigh = 0x8ED383AA1F4CD1E8;
  constexpr std::uint8_t kKey[16] = {0x14, 0x6A, 0xDD, 0xAE, 0x53, 0xA9, 0xA7, 0x52,
                                     0xAA, 0x08, 0x41, 0x36, 0x0B, 0xF5, 0x5A, 0x9F};
  if (version % 10 < 2) {
    const std::uint64_t words[2] = {kAlwaysLow[version % 10], kAlwaysHigh};
    std::memcpy(answer, words, sizeof words);
    return abi::kSuccess;
  }
  int driver_version = 0;
  cuDriverGetVersion(&driver_version);
  std::vector<std::uint8_t> message;
  append(message, driver_version);
  append(message, version);
  append(message, static_cast<std::uint32_t>(getpid()));
  append(message, static_cast<std::uint32_t>(pthread_self()));
  append(message, static_cast<const void*>(runtime_interface().data()));
  append(message, static_cast<const void*>(integrity_check().data()));
  append(message, integrity_check()[1]);
  append(message, unix_seconds);
  for (int device = 0; device < device_count(); ++device) {
    std::array<std::uint8_t, 16> uuid;
    cuDeviceGetUuid_v2(uuid.data(), device);
    append(message, uuid);
    for (const int which : {kPciDomainId, kPciBusId, kPciDeviceId}) append(message, attribute(which));
  }
  const Md2Digest digest = hmac_md2(kKey, message);
  std::memcpy(answer, digest.data(), digest.size());
  return abi::kSuccess;
}

struct ExportTable {
  std::uint8_t uuid[16];
  std::span<const Entry> entries;
};

std::span<const ExportTable> export_tables() {
  static const std::array<Entry, 4> thread_storage_of_tools{size_of_table<4>()};
  static const std::array<Entry, 7> hooks_of_tools{
      size_of_table<7>(), nullptr, entry(api_subscriptions), nullptr, nullptr, nullptr, entry(resource_subscriptions)};
  static const std::array<Entry, 4> storage{entry(put_in_context), entry(remove_from_context), entry(get_from_context)};
  static const std::array<Entry, 4> checks{size_of_table<4>(), nullptr, entry(check_context), entry(entry_3_of_checks)};
  // The runtime in cuDNN 9.26 asks for it at its start and calls none of its 94 entries; older ones do not ask.
  static const std::array<Entry, 95> contexts{size_of_table<95>()};
  static const ExportTable tables[] = {
      {{0x6B, 0xD5, 0xFB, 0x6C, 0x5B, 0xF4, 0xE7, 0x4A, 0x89, 0x87, 0xD9, 0x39, 0x12, 0xFD, 0x9D, 0xF9},
       runtime_interface()},
      {{0x42, 0xD8, 0x5A, 0x81, 0x23, 0xF6, 0xCB, 0x47, 0x82, 0x98, 0xF6, 0xE7, 0x8A, 0x3A, 0xEC, 0xDC},
       thread_storage_of_tools},
      {{0xA0, 0x94, 0x79, 0x8C, 0x2E, 0x74, 0x2E, 0x74, 0x93, 0xF2, 0x08, 0x00, 0x20, 0x0C, 0x0A, 0x66},
       hooks_of_tools},
      {{0xC6, 0x93, 0x33, 0x6E, 0x11, 0x21, 0xDF, 0x11, 0xA8, 0xC3, 0x68, 0xF3, 0x55, 0xD8, 0x95, 0x93}, storage},
      {{0x26, 0x3E, 0x88, 0x60, 0x7C, 0xD2, 0x61, 0x43, 0x92, 0xF6, 0xBB, 0xD5, 0x00, 0x6D, 0xFA, 0x7E}, checks},
      {{0x21, 0x31, 0x8C, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8C, 0xA6, 0x41, 0xFF, 0x73, 0x24, 0xC8, 0xF2}, contexts},
      {{0xD4, 0x08, 0x20, 0x55, 0xBD, 0xE6, 0x70, 0x4B, 0x8D, 0x34, 0xBA, 0x12, 0x3C, 0x66, 0xE1, 0xF2},
       integrity_check()}};
  return tables;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cuGetExportTable(const void** table, const std::uint8_t* uuid) {
  *table = nullptr;
  for (const ExportTable& known : export_tables())
    if (std::memcmp(known.uuid, uuid, sizeof known.uuid) == 0) *table = known.entries.data();
  return *table ? abi::kSuccess : abi::kInvalidValue;
}

}  // extern "C"
#pragma GCC visibility pop
