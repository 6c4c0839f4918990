#include <uit/policy.hpp>
