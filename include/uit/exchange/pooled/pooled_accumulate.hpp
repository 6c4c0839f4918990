#pragma once

/// Both halves of an exchange under Retain::accumulate, whose frames carry sums.

#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/exchange/pooled/pooled_accumulate_receiver.hpp>
#include <uit/exchange/pooled/pooled_accumulate_sender.hpp>
