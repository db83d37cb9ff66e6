// Any text is a trainer's file of some kind, or an Error; whatever files it names hold the same text.
#include <cstdint>

#include "base/error.h"
#include "io/training_config.h"
#include "io/value_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Value model =
      io::value_from_json(R"({"model_type": "llama", "hidden_size": 64, "vision_config": {}})", "config.json");
  for (const char* where : {"input.yaml", "input.json", "input.toml", "input.sh"}) {
    Value keys;
    try {
      keys = io::value_of_training_file(text, where);
    } catch (const Error&) {
      continue;
    }
    const io::TrainingFiles files{.read = [&](const std::string&) { return keys; },
                                  .model_config = [&](const std::string&) { return model; },
                                  .accelerate = {},
                                  .deepspeed = {},
                                  .gpus = static_cast<std::int64_t>(size % 3)};
    for (const io::TrainingFormat& format : io::training_formats()) {
      if (!format.read) continue;
      try {
        io::read_training_config(format, keys, where, files);
      } catch (const Error&) {
      }
    }
    io::recognised_format(keys);
  }
  return 0;
}
