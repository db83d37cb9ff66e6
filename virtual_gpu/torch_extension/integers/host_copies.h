// Copies between large host tensors, page by page: what is zero because nobody wrote it stays so in the copy, and takes
// no memory there either.
#pragma once
#include <ATen/core/Tensor.h>

namespace tidemark {

/// Bytes from a tensor's first element to its last: views may skip some, and expanded ones have fewer than elements.
std::size_t reach_bytes(const at::Tensor& tensor);

/// Nothing but zeros from the first element to the last.
bool is_clear(const at::Tensor& tensor);

/// `self.copy_(source)`.  False: nothing is done, and it has to be made as a whole.
bool copy_written_pages(const at::Tensor& self, const at::Tensor& source);

}  // namespace tidemark
