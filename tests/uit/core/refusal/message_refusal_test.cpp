// A message type that cannot be moved is refused.
#include <mutex>
#include <uit/uit.hpp>
uit::Conduit<std::mutex> conduit{uit::Thread{}};
