// A sum that depends on the order of its terms, without leave.
#include <uit/uit.hpp>
uit::Conduit<double, uit::Policy{.retain = uit::Retain::accumulate}> conduit{uit::Thread{}};
