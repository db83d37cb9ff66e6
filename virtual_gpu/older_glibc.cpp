// Functions of newer glibcs that a static C++ runtime calls, so that the library loads under older ones.
#include <dlfcn.h>

// glibc 2.35, for libgcc's unwinder (libgcc/unwind-dw2-fde-dip.c, GCC 12).  Nothing here catches an exception: no frame
// is found, and the program ends where it is thrown.
extern "C" int _dl_find_object(void*, dl_find_object*) noexcept { return -1; }
