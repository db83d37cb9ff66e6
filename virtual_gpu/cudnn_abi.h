// The part of cuDNN 9's binary interface that the stand-ins answer (cudnn_graph.h, cudnn_ops.h of cuDNN 9.8 and 9.19;
// torch's own pins from 2.4 on are all cuDNN 9), spelled here so that no cuDNN is needed to build.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tidemark::cudnn {

using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kNotInitialized = 1001;  // CUDNN_STATUS_NOT_INITIALIZED
inline constexpr Status kBadParam = 2000;        // CUDNN_STATUS_BAD_PARAM
inline constexpr Status kNotSupported = 3000;    // CUDNN_STATUS_NOT_SUPPORTED
inline constexpr Status kArchMismatch = 3007;    // CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH

/// The first cuDNN whose backend takes a described card instead of a handle (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR).
inline constexpr std::size_t kFirstDeviceLessVersion = 90'800;

/// A backend descriptor, opaque.
using Descriptor = void*;

inline constexpr int kEngineDescriptor = 2;       // CUDNN_BACKEND_ENGINE_DESCRIPTOR
inline constexpr int kDevicePropDescriptor = 38;  // CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
inline constexpr int kRuntimeCompilation = 0;     // CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION

namespace type {  // cudnnBackendAttributeType_t
inline constexpr int kHandle = 0, kInt64 = 3, kVoidPointer = 6, kDescriptor = 15, kBehaviorNote = 19, kChar = 24;
}
namespace attribute {  // cudnnBackendAttributeName_t
inline constexpr int kHeuristicGraph = 201, kHeuristicDeviceProp = 204;
inline constexpr int kConfigEngine = 300, kConfigWorkspaceSize = 303;
inline constexpr int kPlanHandle = 400, kPlanConfig = 401, kPlanWorkspaceSize = 402, kPlanDeviceProp = 407;
inline constexpr int kGraphHandle = 800;
inline constexpr int kVariantPackWorkspace = 1003;
inline constexpr int kEngineGraph = 1300, kEngineBehaviorNote = 1305, kEngineDeviceProp = 1307;
inline constexpr int kDevicePropId = 2700, kDevicePropHandle = 2701, kDevicePropJson = 2702;
}  // namespace attribute

}  // namespace tidemark::cudnn
