// A captured program for every size of a family: "key", "holds" and "main" in its header.  docs/reference/programs.md
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "nn/context.h"
#include "program/program.h"

namespace tidemark {

/// How the model is to run, as far as bodies differ by it.
struct FamilyUse {
  Context context;
  bool any_attention = false;                      // eager will do where there is no sdpa
  std::int64_t seq = 0;                            // 0: as long as the model takes
  std::int64_t batch = 1, images = 0;              // samples, and images of each
  std::int64_t image_height = 0, image_width = 0;  // pixels; 0: as at the capture
  std::string head = "auto";                       // what it is trained for
  std::string autocast = "false";                  // or "own", in the dtype of the weights, or "other"
  bool checkpointing = false;
  std::int64_t shares = 1;        // how many GPUs have a part of each sample, whose batches bring positions
  std::string transformers = {};  // the release that is asked for
  bool is_scored = false;         // one score for each sample, and no loss of the model's own
  std::int64_t target = 0;        // tokens of a label; 0: as many as seq
  double audio_seconds = 0;       // of a sample of raw audio; 0: kUsualAudioSeconds
};

/// Whether the text is one of a family, or of one configuration.
bool is_family(std::string_view text);

/// The program of one configuration.  Throws Error{unsupported} with the key that the family's program does not hold
/// for, and Error{bad_file} as read_program does.
Program read_family(std::string_view text, const std::string& file, ReadValue read_value, const Value& config,
                    const FamilyUse& use);

/// Values of the keys of a family's programs, whether or not they hold for the configuration; of several programs the
/// first's.
std::map<std::string, Value> family_key_values(std::string_view text, const std::string& file, ReadValue read_value,
                                               const Value& config, const FamilyUse& use);

}  // namespace tidemark
