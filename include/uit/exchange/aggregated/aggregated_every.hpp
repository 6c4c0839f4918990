#pragma once

/// Both halves of an aggregated exchange under Retain::every.

#include <uit/exchange/aggregated/aggregated_every_receiver.hpp>
#include <uit/exchange/aggregated/aggregated_every_sender.hpp>
