#include "elf/elf_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"

namespace tidemark::elf {
namespace {

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  [[noreturn]] void fail(std::string why) const { throw Error(Errc::bad_file, std::move(why), where_); }

  // A copy, since nothing in a file need be aligned.
  template <class T>
  T at(std::uint64_t offset, const char* what) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T))
      fail(fmt::format("the file ends inside its {}", what));
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  // The zero-terminated string at `offset` of the table [begin, begin + size), both inside the file.
  std::string_view text(std::uint64_t begin, std::uint64_t size, std::uint64_t offset) const {
    if (offset >= size) fail("a name lies outside the string table");
    const char* first = reinterpret_cast<const char*>(bytes_.data()) + begin + offset;
    const auto* end = static_cast<const char*>(std::memchr(first, 0, size - offset));
    if (!end) fail("a name has no end");
    return {first, static_cast<std::size_t>(end - first)};
  }

  bool holds(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& where_;
};

struct Dynamic {
  std::vector<std::uint64_t> needed;  // offsets into the string table
  std::optional<std::uint64_t> soname, symbols, strings, strings_bytes, hash, gnu_hash;
};

std::vector<Elf64_Phdr> read_segments(const Reader& file, const Elf64_Ehdr& header) {
  if (header.e_phentsize != sizeof(Elf64_Phdr) && header.e_phnum != 0)
    file.fail("its program headers have a strange size");
  std::vector<Elf64_Phdr> segments;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    if (header.e_phoff > UINT64_MAX - i * sizeof(Elf64_Phdr)) file.fail("its program headers lie outside the file");
    segments.push_back(file.at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr), "program headers"));
  }
  return segments;
}

// Where in the file the byte lies that is loaded at `address`.
std::uint64_t file_offset(const Reader& file, const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const std::uint64_t inside = address - segment.p_vaddr;
    if (inside >= segment.p_filesz || segment.p_offset > UINT64_MAX - inside) continue;
    return segment.p_offset + inside;
  }
  file.fail("its dynamic section points outside the file");
}

Dynamic read_dynamic(const Reader& file, const Elf64_Phdr& segment) {
  Dynamic dynamic;
  if (!file.holds(segment.p_offset, segment.p_filesz)) file.fail("the file ends inside its dynamic section");
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto entry = file.at<Elf64_Dyn>(segment.p_offset + at, "dynamic section");
    const std::uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NULL: return dynamic;
      case DT_NEEDED: dynamic.needed.push_back(value); break;
      case DT_SONAME: dynamic.soname = value; break;
      case DT_SYMTAB: dynamic.symbols = value; break;
      case DT_STRTAB: dynamic.strings = value; break;
      case DT_STRSZ: dynamic.strings_bytes = value; break;
      case DT_HASH: dynamic.hash = value; break;
      case DT_GNU_HASH: dynamic.gnu_hash = value; break;
      default: break;
    }
  }
  return dynamic;
}

// DT_GNU_HASH does not say how many symbols there are: the last one ends the chain of the highest bucket.
std::uint64_t count_by_gnu_hash(const Reader& file, std::uint64_t table) {
  const auto word = [&](std::uint64_t index) {
    if (table > UINT64_MAX - index * 4) file.fail("its hash table lies outside the file");
    return file.at<std::uint32_t>(table + index * 4, "hash table");
  };
  const std::uint32_t buckets = word(0), first = word(1), bloom_words = word(2);
  const std::uint64_t bucket_at = 4 + std::uint64_t{bloom_words} * 2;
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < buckets; ++i) last = std::max(last, word(bucket_at + i));
  if (last < first) return first;  // only undefined symbols
  std::uint64_t index = last;
  while (!(word(bucket_at + buckets + (index - first)) & 1)) ++index;
  return index + 1;
}

std::uint64_t count_symbols(const Reader& file, const std::vector<Elf64_Phdr>& segments, const Dynamic& dynamic) {
  if (dynamic.hash) {
    const std::uint64_t table = file_offset(file, segments, *dynamic.hash);
    return file.at<std::uint32_t>(table + 4, "hash table");
  }
  if (dynamic.gnu_hash) return count_by_gnu_hash(file, file_offset(file, segments, *dynamic.gnu_hash));
  file.fail("its dynamic symbols have no hash table");
}

void read_symbols(const Reader& file, std::uint64_t table, std::uint64_t count, std::uint64_t strings,
                  std::uint64_t strings_bytes, ElfFile& result) {
  if (!file.holds(table, 0) || count > UINT32_MAX || !file.holds(table, count * sizeof(Elf64_Sym)))
    file.fail("the file ends inside its symbol table");
  result.symbols.reserve(count);
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto symbol = file.at<Elf64_Sym>(table + i * sizeof(Elf64_Sym), "symbol table");
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
    result.symbols.push_back({file.text(strings, strings_bytes, symbol.st_name), symbol.st_shndx != SHN_UNDEF});
  }
}

Elf64_Ehdr read_header(const Reader& file) {
  const auto header = file.at<Elf64_Ehdr>(0, "header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) file.fail("it is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64) file.fail("it is not a 64-bit ELF file");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) file.fail("it is not a little-endian ELF file");
  return header;
}

}  // namespace

ElfFile read_elf(std::span<const std::byte> bytes, const std::string& where) {
  const Reader file(bytes, where);
  const Elf64_Ehdr header = read_header(file);
  const std::vector<Elf64_Phdr> segments = read_segments(file, header);
  const auto dynamic_segment =
      std::find_if(segments.begin(), segments.end(), [](const Elf64_Phdr& s) { return s.p_type == PT_DYNAMIC; });
  if (dynamic_segment == segments.end()) file.fail("it has no dynamic section");
  const Dynamic dynamic = read_dynamic(file, *dynamic_segment);
  if (!dynamic.strings || !dynamic.strings_bytes || !dynamic.symbols) file.fail("its dynamic section is incomplete");
  const std::uint64_t strings = file_offset(file, segments, *dynamic.strings);
  const std::uint64_t strings_bytes = *dynamic.strings_bytes;
  if (!file.holds(strings, strings_bytes)) file.fail("the file ends inside its string table");

  ElfFile result;
  result.machine = header.e_machine;
  if (dynamic.soname) result.soname = file.text(strings, strings_bytes, *dynamic.soname);
  for (std::uint64_t name : dynamic.needed) result.needed.push_back(file.text(strings, strings_bytes, name));
  read_symbols(file, file_offset(file, segments, *dynamic.symbols), count_symbols(file, segments, dynamic), strings,
               strings_bytes, result);
  return result;
}

}  // namespace tidemark::elf
