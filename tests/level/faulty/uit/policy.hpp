#include <uit/inlet.hpp>
