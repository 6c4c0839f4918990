#pragma once

/// Both halves of an aggregated exchange under Retain::latest.

#include <uit/exchange/aggregated/aggregated_latest_receiver.hpp>
#include <uit/exchange/aggregated/aggregated_latest_sender.hpp>
