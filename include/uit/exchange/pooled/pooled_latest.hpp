#pragma once

/// Both halves of an exchange under Retain::latest.

#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/pooled/pooled_latest_receiver.hpp>
#include <uit/exchange/pooled/pooled_latest_sender.hpp>
