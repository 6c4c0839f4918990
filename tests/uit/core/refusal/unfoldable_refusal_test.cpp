// Retain::accumulate is refused for a type that cannot be added.
#include <uit/uit.hpp>
uit::Conduit<bool, uit::Policy{.retain = uit::Retain::accumulate}> conduit{uit::Thread{}};
