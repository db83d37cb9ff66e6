// What had to be assumed because float data is not computed: said once per place, counted.
#pragma once
#include <string>

namespace tidemark {

/// Notes that `what` was assumed at the Python line that runs now.
void assume(const std::string& what);
/// Notes what was assumed wherever it happens: no line.
void assume_everywhere(const std::string& what);

}  // namespace tidemark
