// The library that is loaded before MPI's own. It is meant for one program, and not for those that the program starts. For
// example, the program that a sanitizer starts to read symbols cannot load it.
#include <cstdlib>

namespace {

[[gnu::constructor]] void KeepFromChildren() { unsetenv("LD_PRELOAD"); }

}  // namespace
