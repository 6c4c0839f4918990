#pragma once

/// Both halves of an exchange under Retain::every.

#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/exchange/pooled/pooled_every_receiver.hpp>
#include <uit/exchange/pooled/pooled_every_sender.hpp>
