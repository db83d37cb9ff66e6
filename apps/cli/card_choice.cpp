#include "card_choice.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/error.h"
#include "files.h"
#include "io/device_memory_json.h"

namespace tidemark::cli {
namespace {

bool looks_like_file(const std::string& gpu) {
  std::error_code error;
  return gpu.ends_with(".json") || gpu.find('/') != std::string::npos || std::filesystem::is_regular_file(gpu, error);
}

// Eight well-spread names: enough to see how they are written.
std::string some_names(const io::Catalogue& catalogue) {
  std::string names;
  const std::size_t stride = catalogue.size() / 8 + 1;
  for (std::size_t i = 0; i < catalogue.size(); i += stride) names += (names.empty() ? "" : ", ") + catalogue[i].key;
  return names;
}

void resize(Card& card, const std::string& memory) {
  const std::int64_t bytes = parse_bytes(memory);
  const std::int64_t taken =
      checked_add(checked_add(card.driver_reserved_bytes, card.context_bytes.high), card.beside.library_bytes.high);
  if (bytes <= taken)
    throw Error(Errc::bad_value,
                fmt::format("{} is less than the driver, the CUDA context and libraries take ({})", memory,
                            format_bytes(taken)),
                "--memory");
  card.total_bytes = bytes;
  card.name += fmt::format(" with {}", format_bytes(bytes));
}

}  // namespace

io::Catalogue load_catalogue(const std::filesystem::path& data) {
  return io::read_catalogue(read_file(data / "gpus.json"), "gpus.json");
}

Card choose_card(const std::string& gpu, const std::string& memory, const std::filesystem::path& data,
                 const std::string& link) {
  if (gpu.empty())
    throw Error(Errc::usage, "which card? --gpu is missing", {},
                fmt::format("--gpu takes a name ({}; `tidemark gpus` lists all) or a file that describes a card",
                            some_names(load_catalogue(data))));
  Card card = looks_like_file(gpu) ? io::read_card(read_file(gpu), gpu) : io::find_card(load_catalogue(data), gpu);
  card.beside = io::read_device_memory(read_file(data / "device_memory.json"), "device_memory.json");
  if (!memory.empty()) resize(card, memory);
  if (link != "auto") card.link.kind = link;
  return card;
}

void check_link(const Card& card) { communicator_bytes(card.beside.nccl, card.link.kind, 2, false); }

}  // namespace tidemark::cli
