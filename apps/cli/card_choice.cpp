#include "card_choice.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "files.h"
#include "io/card_as_asked.h"
#include "resources.h"

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

}  // namespace

io::Catalogue load_catalogue(const std::filesystem::path& data) {
  return io::read_catalogue(read_file(data / "gpus.json"), "gpus.json");
}

Place place_of(const std::string& text) {
  if (answers::counted_places(text).empty()) return {text, 1};
  return answers::place_of(text, load_catalogue(find_resources().data));
}

Value with_place(Value keys) {
  const Value* gpu = keys.as_map() ? keys.find("gpu") : nullptr;
  if (!gpu || !gpu->as_text() || answers::counted_places(*gpu->as_text()).empty()) return keys;
  return answers::with_place(std::move(keys), load_catalogue(find_resources().data));
}

Card choose_card(const std::string& gpu, const std::string& memory, const std::filesystem::path& data,
                 const std::string& link, bool windows) {
  if (gpu.empty())
    throw Error(Errc::usage, "which card? --gpu is missing", {},
                fmt::format("--gpu takes a name ({}; `tidemark gpus` lists all) or a file that describes a card",
                            some_names(load_catalogue(data))));
  Card card = looks_like_file(gpu) ? io::read_card(read_file(gpu), gpu) : io::find_card(load_catalogue(data), gpu);
  return io::card_as_asked(std::move(card), read_file(data / "device_memory.json"), memory, link, windows);
}

void check_link(const Card& card) { communicator_bytes(card.beside.nccl, card.link.kind, 2, false); }

}  // namespace tidemark::cli
