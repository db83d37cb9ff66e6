// Note [Layout of a stub library]
// Three segments follow each other in the file without padding, and in memory each starts one alignment further on
// (address = offset + segment * kAlignment), so that offset and address agree modulo the page size, as mmap needs:
//   0  R    ELF header, program headers, .dynsym, .dynstr, .hash
//   1  R+X  .text: one function that returns 0
//   2  RW   .dynamic: glibc before 2.35 writes the relocated addresses back into it
// Section headers come last and are not loaded; linkers and nm want them, the loader does not.
// All exported names share the one function.  DT_HASH alone suffices for glibc and musl.
#include "elf/elf_stub.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <map>
#include <span>

#include "base/check.h"

namespace tidemark::elf {
namespace {

constexpr std::uint64_t kAlignment = 0x10000;  // the largest page size of either machine (aarch64: 64 KiB)
constexpr std::size_t kSegments = 5;           // three PT_LOAD, PT_DYNAMIC, PT_GNU_STACK

constexpr std::array<std::uint8_t, 8> kReturnZeroX86{0x31, 0xc0, 0xc3, 0x90,
                                                     0x90, 0x90, 0x90, 0x90};  // xor eax,eax; ret
constexpr std::array<std::uint8_t, 8> kReturnZeroArm{0x00, 0x00, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6};  // mov x0,#0; ret

// Section numbers, in the order in which the headers are written.
enum Section : std::uint16_t { null_section, dynsym, dynstr, hash, text, dynamic, shstrtab, section_count };

class Bytes {
 public:
  std::uint64_t size() const { return data_.size(); }
  void align(std::size_t to) { data_.resize((data_.size() + to - 1) / to * to); }
  template <class T>
  void add(const T& value) {
    add_all(std::span<const T>(&value, 1));
  }
  template <class T>
  void add_all(std::span<const T> values) {
    const std::span<const std::byte> bytes = std::as_bytes(values);
    const std::size_t old_size = data_.size();
    data_.resize(old_size + bytes.size());
    if (!bytes.empty()) std::memcpy(data_.data() + old_size, bytes.data(), bytes.size());
  }
  template <class T>
  void put(std::uint64_t offset, std::span<const T> values) {
    TM_CHECK(offset + values.size_bytes() <= data_.size(), "a header does not fit where it belongs");
    std::memcpy(data_.data() + offset, values.data(), values.size_bytes());
  }
  std::vector<std::byte> take() { return std::move(data_); }

 private:
  std::vector<std::byte> data_;
};

class StringTable {
 public:
  std::uint32_t add(const std::string& name) {
    const auto [found, is_new] = offsets_.try_emplace(name, static_cast<std::uint32_t>(text_.size()));
    if (is_new) text_.append(name).push_back('\0');
    return found->second;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = std::string(1, '\0');
  std::map<std::string, std::uint32_t> offsets_;
};

// The hash function of the System V gABI, chapter 5.
std::uint32_t sysv_hash(const std::string& name) {
  std::uint32_t h = 0;
  for (unsigned char c : name) {
    h = (h << 4) + c;
    const std::uint32_t high = h & 0xf0000000U;
    h = (h ^ (high >> 24)) & ~high;
  }
  return h;
}

// nbucket, nchain, buckets, chains; symbol i + 1 is functions[i].
std::vector<std::uint32_t> hash_table(const std::vector<std::string>& functions) {
  const auto buckets = static_cast<std::uint32_t>(functions.size() / 2 + 1);
  const auto symbols = static_cast<std::uint32_t>(functions.size() + 1);
  std::vector<std::uint32_t> table(2 + buckets + symbols, 0);
  table[0] = buckets;
  table[1] = symbols;
  for (std::uint32_t i = 1; i < symbols; ++i) {
    std::uint32_t& head = table[2 + sysv_hash(functions[i - 1]) % buckets];
    table[2 + buckets + i] = head;
    head = i;
  }
  return table;
}

struct Extent {
  std::uint64_t offset = 0, size = 0, address = 0;
};

class Writer {
 public:
  explicit Writer(const StubLibrary& library) : library_(library) {}

  std::vector<std::byte> write() {
    out_.add(Elf64_Ehdr{});
    for (std::size_t i = 0; i < kSegments; ++i) out_.add(Elf64_Phdr{});
    add_strings();
    add_symbols();
    add_section(dynstr, 0, strings_.text());
    const auto table = hash_table(library_.functions);
    add_section(hash, 0, table);
    const auto& code = library_.machine == Machine::x86_64 ? kReturnZeroX86 : kReturnZeroArm;
    add_section(text, 1, code);
    TM_CHECK(at_[text].address == code_address_, "the code is not where the symbols say");
    const auto entries = dynamic_entries();
    add_section(dynamic, 2, entries);
    add_section_headers();
    out_.put(0, std::span<const Elf64_Ehdr>(std::array{header()}));
    const auto segments = program_headers();
    out_.put(sizeof(Elf64_Ehdr), std::span<const Elf64_Phdr>(segments));
    return out_.take();
  }

 private:
  void add_section(Section section, std::uint64_t segment, std::span<const std::byte> content) {
    out_.align(8);
    at_[section] = {out_.size(), content.size(), out_.size() + segment * kAlignment};
    out_.add_all(content);
  }
  template <class Values>
  void add_section(Section section, std::uint64_t segment, const Values& values) {
    add_section(section, segment, std::span<const std::byte>(std::as_bytes(std::span(values))));
  }

  void add_strings() {
    for (const std::string& name : library_.functions) strings_.add(name);
    for (const std::string& name : library_.needed) strings_.add(name);
    strings_.add(library_.soname);
    strings_.add(library_.runpath);
  }

  static std::uint64_t aligned(std::uint64_t offset) { return (offset + 7) / 8 * 8; }

  void add_symbols() {
    // The code follows .dynsym, .dynstr and .hash, whose sizes are known by now.
    const std::uint64_t symbols_bytes = (library_.functions.size() + 1) * sizeof(Elf64_Sym);
    const std::uint64_t hash_at = aligned(aligned(out_.size()) + symbols_bytes + strings_.text().size());
    code_address_ = aligned(hash_at + hash_table(library_.functions).size() * 4) + kAlignment;
    std::vector<Elf64_Sym> symbols(1);
    for (const std::string& name : library_.functions) {
      Elf64_Sym symbol{};
      symbol.st_name = strings_.add(name);
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbol.st_shndx = text;
      symbol.st_value = code_address_;
      symbol.st_size = kReturnZeroX86.size();
      symbols.push_back(symbol);
    }
    add_section(dynsym, 0, symbols);
  }

  std::vector<Elf64_Dyn> dynamic_entries() {
    std::vector<Elf64_Dyn> entries;
    const auto add = [&](std::int64_t tag, std::uint64_t value) { entries.push_back({tag, {value}}); };
    for (const std::string& name : library_.needed) add(DT_NEEDED, strings_.add(name));
    if (!library_.soname.empty()) add(DT_SONAME, strings_.add(library_.soname));
    if (!library_.runpath.empty()) add(DT_RUNPATH, strings_.add(library_.runpath));
    add(DT_HASH, at_[hash].address);
    add(DT_STRTAB, at_[dynstr].address);
    add(DT_STRSZ, at_[dynstr].size);
    add(DT_SYMTAB, at_[dynsym].address);
    add(DT_SYMENT, sizeof(Elf64_Sym));
    add(DT_NULL, 0);
    return entries;
  }

  std::vector<Elf64_Phdr> program_headers() const {
    const auto segment = [](std::uint32_t type, std::uint32_t flags, const Extent& extent, std::uint64_t align) {
      return Elf64_Phdr{type, flags, extent.offset, extent.address, extent.address, extent.size, extent.size, align};
    };
    const Extent tables{0, at_[hash].offset + at_[hash].size, 0};
    return {segment(PT_LOAD, PF_R, tables, kAlignment), segment(PT_LOAD, PF_R | PF_X, at_[text], kAlignment),
            segment(PT_LOAD, PF_R | PF_W, at_[dynamic], kAlignment), segment(PT_DYNAMIC, PF_R | PF_W, at_[dynamic], 8),
            segment(PT_GNU_STACK, PF_R | PF_W, {}, 16)};
  }

  void add_section_headers() {
    struct Row {
      const char* name;
      std::uint32_t type;
      std::uint64_t flags;
      std::uint32_t link, info;
      std::uint64_t entry_bytes;
    };
    const std::array<Row, section_count> rows{
        {{"", SHT_NULL, 0, 0, 0, 0},
         {".dynsym", SHT_DYNSYM, SHF_ALLOC, dynstr, 1, sizeof(Elf64_Sym)},
         {".dynstr", SHT_STRTAB, SHF_ALLOC, 0, 0, 0},
         {".hash", SHT_HASH, SHF_ALLOC, dynsym, 0, 4},
         {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 0},
         {".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, dynstr, 0, sizeof(Elf64_Dyn)},
         {".shstrtab", SHT_STRTAB, 0, 0, 0, 0}}};
    StringTable names;
    for (const Row& row : rows) names.add(row.name);
    add_section(shstrtab, 0, names.text());
    at_[shstrtab].address = 0;  // not loaded
    out_.align(8);
    section_headers_at_ = out_.size();
    out_.add(Elf64_Shdr{});
    for (std::size_t i = 1; i < section_count; ++i) {
      const Row& row = rows[i];
      out_.add(Elf64_Shdr{names.add(row.name), row.type, row.flags, at_[i].address, at_[i].offset, at_[i].size,
                          row.link, row.info, 8, row.entry_bytes});
    }
  }

  Elf64_Ehdr header() const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = static_cast<std::uint16_t>(library_.machine);
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_shoff = section_headers_at_;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = kSegments;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = section_count;
    header.e_shstrndx = shstrtab;
    return header;
  }

  const StubLibrary& library_;
  Bytes out_;
  StringTable strings_;
  std::array<Extent, section_count> at_{};
  std::uint64_t code_address_ = 0, section_headers_at_ = 0;
};

}  // namespace

Machine this_machine() {
#if defined(__aarch64__)
  return Machine::aarch64;
#else
  return Machine::x86_64;
#endif
}

std::vector<std::byte> write_stub_library(const StubLibrary& library) { return Writer(library).write(); }

}  // namespace tidemark::elf
