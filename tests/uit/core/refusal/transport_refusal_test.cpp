// A transport that opens nothing.
#include <uit/uit.hpp>
struct Nowhere {};
uit::TransportSet<uit::Intra, Nowhere> wiring;
