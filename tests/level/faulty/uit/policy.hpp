#include <uit/inlet.hpp>
inline const char* Wish() { return std::getenv("WISH"); }
