// The functions of torch, by kind; functions.cpp finds them by name.
#pragma once
#include <span>

namespace tidemark {

struct Function;

std::span<const Function> activation_functions();
std::span<const Function> attention_functions();
std::span<const Function> creation_functions();
std::span<const Function> elementwise_functions();
std::span<const Function> index_functions();
std::span<const Function> matrix_functions();
std::span<const Function> reduction_functions();
std::span<const Function> view_functions();

}  // namespace tidemark
