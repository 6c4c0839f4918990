// A message that cannot be moved.
#include <mutex>
#include <uit/uit.hpp>
uit::Conduit<std::mutex> conduit{uit::Thread{}};
