// The largest batch, of the powers of two, with which a small Llama trains on a card.
#include <tidemark/error.h>
#include <tidemark/predict.h>

#include <iostream>
#include <string>

namespace {

constexpr const char* kTraining = R"(
model: {model_type: llama, hidden_size: 2048, intermediate_size: 5632, num_hidden_layers: 22, num_attention_heads: 32, num_key_value_heads: 4, vocab_size: 32000}
seq: 2048
gpu: rtx-4090
batch: )";

}  // namespace

int main() {
  try {
    for (int batch = 1; batch <= 64; batch *= 2) {
      const tidemark::Prediction found = tidemark::predict_spec(kTraining + std::to_string(batch), TIDEMARK_DATA);
      std::cout << "batch " << batch << ": " << found.reserved_bytes << " bytes reserved, " << found.verdict << "\n";
      if (found.fits != true) return 0;
    }
  } catch (const tidemark::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
