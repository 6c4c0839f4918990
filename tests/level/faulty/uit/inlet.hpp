#include "policy.hpp"
#include <uit/app/session.hpp>
