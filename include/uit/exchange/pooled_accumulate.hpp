#pragma once

/// Both halves of an exchange under Retain::accumulate, whose frames carry sums.

#include <uit/exchange/accumulate_frame.hpp>
#include <uit/exchange/pooled_accumulate_receiver.hpp>
#include <uit/exchange/pooled_accumulate_sender.hpp>
