#pragma once

#include <uit/exchange/aggregated/aggregated_inlet_duct.hpp>
#include <uit/exchange/aggregated/aggregated_outlet_duct.hpp>
