#pragma once

/// All of uit that needs neither connections between processes nor MPI. Between processes: <uit/exchange/fabric.hpp> and
/// <uit/transport/process.hpp>.

#include <uit/config.hpp>  // first: it refuses compilers without C++20

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/conduit.hpp>
#include <uit/duct/accumulator_duct.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/fold.hpp>
#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/null_duct.hpp>
#include <uit/duct/queue_duct.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/policy.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/owner.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>
#include <uit/tally.hpp>
#include <uit/transport/in_process.hpp>
#include <uit/transport/transport.hpp>
#include <uit/transport/transport_set.hpp>
