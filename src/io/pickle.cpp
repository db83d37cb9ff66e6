#include "io/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace tidemark::io {
namespace {

constexpr std::uint64_t kMaxPickleBytes = 1ULL << 30;  // node indices, and what a reader holds in memory

// Names as in CPython's pickletools.py.
enum Opcode : unsigned char {
  kMark = '(',
  kEmptyTuple = ')',
  kStop = '.',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kMemoize = 0x94,
  kFrame = 0x95,
};

}  // namespace

class PickleParser {
 public:
  PickleParser(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {
    if (bytes.size() > kMaxPickleBytes) throw Error(Errc::unsupported, "it is larger than 1 GiB", where);
    // Shared, so that a byte of input is never a node of memory.
    for (PickleKind kind : {PickleKind::none, PickleKind::boolean, PickleKind::boolean})
      pickle_.nodes_.push_back({.kind = kind, .text = {}, .items = {}});
    pickle_.nodes_[kTrue].integer = 1;
  }

  Pickle run() {
    while (true) {
      const auto opcode = static_cast<unsigned char>(take(1)[0]);
      if (opcode == kStop) break;
      if (!scalar(opcode) && !container(opcode) && !memory(opcode)) refuse_opcode(opcode);
    }
    pickle_.root_ = pop();
    if (!stack_.empty() || !marks_.empty()) refuse("it ends with values left over");
    return std::move(pickle_);
  }

 private:
  static constexpr std::uint32_t kNoneIndex = 0, kFalse = 1, kTrue = 2;

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(Errc::bad_file, fmt::format("it is not a pickle that can be read: {} (byte {})", why, at_), where_);
  }

  [[noreturn]] void refuse_opcode(unsigned char opcode) const {
    constexpr std::string_view kMakesObjects = "cioR\x81\x92\x93\x82\x83\x84PQb";
    if (kMakesObjects.find(static_cast<char>(opcode)) != std::string_view::npos)
      throw Error(Errc::unsupported, fmt::format("it holds an object of a class (byte {}), not plain data alone", at_),
                  where_, "a memory snapshot of PyTorch holds none");
    refuse(fmt::format("opcode 0x{:02x} does not occur in memory snapshots", opcode));
  }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) refuse("it ends too early");
    const std::string_view part = bytes_.substr(at_, count);
    at_ += count;
    return part;
  }

  std::uint64_t little_endian(std::size_t count) {
    std::uint64_t number = 0;
    const std::string_view part = take(count);
    for (std::size_t i = count; i-- > 0;) number = number << 8 | static_cast<unsigned char>(part[i]);
    return number;
  }

  void push(PickleNode node) {
    stack_.push_back(static_cast<std::uint32_t>(pickle_.nodes_.size()));
    pickle_.nodes_.push_back(std::move(node));
  }
  void push_integer(std::int64_t number) {
    push({.kind = PickleKind::integer, .integer = number, .text = {}, .items = {}});
  }
  void push_text(std::uint64_t length) { push({.kind = PickleKind::text, .text = take(length), .items = {}}); }

  std::uint32_t pop() {
    if (stack_.empty()) refuse("a value is missing");
    const std::uint32_t index = stack_.back();
    stack_.pop_back();
    return index;
  }

  // Two's complement of at most eight bytes; PyTorch writes no larger number, but may write a smaller one with one byte
  // more.
  void push_long(std::size_t count) {
    const std::string_view part = take(count);
    const bool negative = count > 0 && (static_cast<unsigned char>(part.back()) & 0x80) != 0;
    std::uint64_t number = negative ? ~0ULL : 0;
    for (std::size_t i = count; i-- > 0;) {
      const auto byte = static_cast<unsigned char>(part[i]);
      if (i >= 8 && byte != (negative ? 0xff : 0)) refuse("a number has more than 64 bits");
      if (i < 8) number = number << 8 | byte;
    }
    if (!negative && number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      // An address may use the top bit; nobody computes with it.
      push_integer(std::numeric_limits<std::int64_t>::max());
      return;
    }
    push_integer(static_cast<std::int64_t>(number));
  }

  bool scalar(unsigned char opcode) {
    switch (opcode) {
      case kNone: return stack_.push_back(kNoneIndex), true;
      case kNewTrue: return stack_.push_back(kTrue), true;
      case kNewFalse: return stack_.push_back(kFalse), true;
      case kBinInt: return push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(little_endian(4)))), true;
      case kBinInt1: return push_integer(static_cast<std::int64_t>(little_endian(1))), true;
      case kBinInt2: return push_integer(static_cast<std::int64_t>(little_endian(2))), true;
      case kLong1: return push_long(little_endian(1)), true;
      case kShortBinUnicode: return push_text(little_endian(1)), true;
      case kBinUnicode: return push_text(little_endian(4)), true;
      case kBinUnicode8: return push_text(little_endian(8)), true;
      case kBinFloat: {
        std::uint64_t bits = 0;
        for (char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
        push({.kind = PickleKind::real, .real = std::bit_cast<double>(bits), .text = {}, .items = {}});
        return true;
      }
      default: return false;
    }
  }

  // The values above the last mark, and the mark gone.
  std::vector<std::uint32_t> pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) refuse("a mark is missing");
    std::vector<std::uint32_t> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  void push_tuple(std::vector<std::uint32_t> items) {
    push({.kind = PickleKind::list, .text = {}, .items = std::move(items)});
  }

  void short_tuple(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push_tuple(std::move(items));
  }

  void extend(PickleKind kind, const std::vector<std::uint32_t>& items) {
    if (stack_.empty() || pickle_.nodes_[stack_.back()].kind != kind)
      refuse("values go into something that takes none");
    if (kind == PickleKind::map && items.size() % 2 != 0) refuse("a key has no value");
    auto& to = pickle_.nodes_[stack_.back()].items;
    to.insert(to.end(), items.begin(), items.end());
  }

  bool container(unsigned char opcode) {
    switch (opcode) {
      case kMark: return marks_.push_back(stack_.size()), true;
      case kEmptyDict: return push({.kind = PickleKind::map, .text = {}, .items = {}}), true;
      case kEmptyList:
      case kEmptyTuple: return push_tuple({}), true;
      case kTuple1: return short_tuple(1), true;
      case kTuple2: return short_tuple(2), true;
      case kTuple3: return short_tuple(3), true;
      case kTuple: return push_tuple(pop_to_mark()), true;
      case kAppend: return extend(PickleKind::list, std::vector{pop()}), true;
      case kAppends: {
        const auto items = pop_to_mark();
        return extend(PickleKind::list, items), true;
      }
      case kSetItem: {
        const std::uint32_t value = pop(), key = pop();
        return extend(PickleKind::map, {key, value}), true;
      }
      case kSetItems: {
        const auto items = pop_to_mark();
        return extend(PickleKind::map, items), true;
      }
      default: return false;
    }
  }

  void remember(std::uint64_t number) {
    if (stack_.empty()) refuse("a value is missing");
    memo_[number] = stack_.back();
  }

  void recall(std::uint64_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) refuse("it refers to what was not there");
    stack_.push_back(found->second);
  }

  bool memory(unsigned char opcode) {
    switch (opcode) {
      case kProto:
        if (little_endian(1) > 5) refuse("it is of a newer protocol than 5");
        return true;
      case kFrame: return take(8), true;  // frames only help to read ahead
      case kMemoize: return remember(memo_.size()), true;
      case kBinPut: return remember(little_endian(1)), true;
      case kLongBinPut: return remember(little_endian(4)), true;
      case kBinGet: return recall(little_endian(1)), true;
      case kLongBinGet: return recall(little_endian(4)), true;
      default: return false;
    }
  }

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  Pickle pickle_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, std::uint32_t> memo_;
};

const PickleNode* Pickle::find(const PickleNode& map, std::string_view key) const {
  if (map.kind != PickleKind::map) return nullptr;
  for (std::size_t i = map.items.size(); i >= 2; i -= 2) {
    const PickleNode& name = nodes_[map.items[i - 2]];
    if (name.kind == PickleKind::text && name.text == key) return &nodes_[map.items[i - 1]];
  }
  return nullptr;
}

Pickle read_pickle(std::string_view bytes, const std::string& where) { return PickleParser(bytes, where).run(); }

}  // namespace tidemark::io
