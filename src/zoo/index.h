// One line per family: its maker.
#pragma once
#include "zoo/model.h"

namespace tidemark {

std::unique_ptr<Model> make_bert(const ModelRequest& request);
std::unique_ptr<Model> make_gemma(const ModelRequest& request);
std::unique_ptr<Model> make_gemma2(const ModelRequest& request);
std::unique_ptr<Model> make_gpt2(const ModelRequest& request);
std::unique_ptr<Model> make_gpt_neox(const ModelRequest& request);
std::unique_ptr<Model> make_llama(const ModelRequest& request);
std::unique_ptr<Model> make_mistral(const ModelRequest& request);
std::unique_ptr<Model> make_opt(const ModelRequest& request);
std::unique_ptr<Model> make_phi3(const ModelRequest& request);
std::unique_ptr<Model> make_qwen2(const ModelRequest& request);
std::unique_ptr<Model> make_qwen3(const ModelRequest& request);

}  // namespace tidemark
