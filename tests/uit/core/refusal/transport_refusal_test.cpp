// A transport that opens nothing.
#include <uit/uit.hpp>
struct Nowhere {};
uit::Wiring<uit::Intra, Nowhere> wiring;
