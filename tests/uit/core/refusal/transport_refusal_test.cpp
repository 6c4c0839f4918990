// A transport that cannot open a conduit is refused.
#include <uit/uit.hpp>
struct Nowhere {};
uit::TransportSet<uit::Intra, Nowhere> wiring;
