// One line per family: its maker.
#pragma once
#include "zoo/model.h"

namespace tidemark {

std::unique_ptr<Model> make_llama(const ModelRequest& request);
std::unique_ptr<Model> make_mistral(const ModelRequest& request);
std::unique_ptr<Model> make_mixtral(const ModelRequest& request);
std::unique_ptr<Model> make_olmoe(const ModelRequest& request);
std::unique_ptr<Model> make_phi3(const ModelRequest& request);
std::unique_ptr<Model> make_qwen2(const ModelRequest& request);
std::unique_ptr<Model> make_qwen2_moe(const ModelRequest& request);
std::unique_ptr<Model> make_qwen2_vl(const ModelRequest& request);
std::unique_ptr<Model> make_qwen3(const ModelRequest& request);
std::unique_ptr<Model> make_qwen3_moe(const ModelRequest& request);

}  // namespace tidemark
