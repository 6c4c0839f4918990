// The library that is put before MPI's own: it is meant for one program, and not for those that this one starts, as a sanitizer
// does to read symbols, which cannot load it.
#include <cstdlib>

namespace {

[[gnu::constructor]] void KeepFromChildren() { unsetenv("LD_PRELOAD"); }

}  // namespace
