// The document that describes the server, made of the topics and of the fields of a spec.
#pragma once
#include <string>
#include <string_view>

namespace tidemark::serve {

std::string openapi(std::string_view version);

}  // namespace tidemark::serve
