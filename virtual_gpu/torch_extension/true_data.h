// True integers on a device that computes nothing.
#pragma once

namespace tidemark {

/// Switches the hook on or off for this thread; threads of the autograd engine inherit it from the caller of backward.
void keep_integers_true(bool yes);

}  // namespace tidemark
