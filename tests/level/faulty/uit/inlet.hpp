#include "policy.hpp"
