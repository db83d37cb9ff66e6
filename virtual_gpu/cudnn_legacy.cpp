// libcudnn, the legacy ("v7") calls.
#include "cudnn_abi.h"
using namespace tidemark::cudnn;
#pragma GCC visibility push(default)
extern "C" {
Status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void*, int, int, void*, void*, void*, void*, void*, std::size_t* bytes) { *bytes = 0; return 0; }
Status cudnnGetBatchNormalizationBackwardExWorkspaceSize(void*, int, int, void*, void*, void*, void*, void*, void*, void*, std::size_t* bytes) { *bytes = 0; return 0; }
Status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void*, int, int, void*, void*, std::size_t* bytes) { *bytes = 0; return 0; }
}
#pragma GCC visibility pop
