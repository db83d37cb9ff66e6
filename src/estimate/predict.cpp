#include "estimate/predict.h"

#include "base/error.h"

namespace tidemark {

Report predict(const Spec&, const Value&, const Card&, const PredictOptions&) {
  throw Error(Errc::unsupported, "not built yet");
}

std::vector<ModelInfo> known_models() { return {}; }

std::vector<OpInfo> known_ops() { return {}; }

}  // namespace tidemark
