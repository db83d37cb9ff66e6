#include "hub.h"

#include <gtest/gtest.h>

namespace tidemark::cli {
namespace {

TEST(HubName, IsNoFile) {
  for (const char* name : {"gpt2", "meta-llama/Llama-3.1-8B", "Qwen/Qwen2.5-0.5B", "01-ai/Yi-34B"})
    EXPECT_TRUE(may_be_hub_name(name)) << name;
  for (const char* path : {"", "config.json", "./gpt2", "/gpt2", "~/gpt2", "models/", "a/b/c", "../gpt2", "a b"})
    EXPECT_FALSE(may_be_hub_name(path)) << path;
}

}  // namespace
}  // namespace tidemark::cli
