// What transformers' Trainer makes of a configuration by itself, where its loop trains.
#pragma once
#include "estimate/spec.h"

namespace tidemark::plan {

/// What a trainer makes of a configuration.
using TrainedAs = Spec (*)(Spec);

/// Of a plain loop the spec itself.
Spec as_the_trainer_has_it(Spec spec);

}  // namespace tidemark::plan
