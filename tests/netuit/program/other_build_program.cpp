// One of two programs of a job that were built differently: each macro UIT_TEST_OTHER_… changes one thing. The program ends
// with an error that names the difference.
#include <uit/config.hpp>
#if UIT_TEST_OTHER_VERSION
#undef UIT_VERSION_PATCH
#define UIT_VERSION_PATCH 99
#endif

#include <cstdint>

#include <netuit/app/guarded_main.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

namespace {

#if UIT_TEST_OTHER_TYPE
using Message = double;
#else
struct Message {
#if UIT_TEST_OTHER_MEANING
  static constexpr std::uint32_t message_version = 2;
#endif
#if UIT_TEST_OTHER_LAYOUT
  float value;
  int number;
#else
  int number;
  float value;
#endif
};
#endif
constexpr uit::Policy every{};
using Transports = uit::TransportSet<uit::Process>;

}  // namespace

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [](const uit::World& world) {
    uit::Fabric fabric{world};
    const uit::Process to_other{.fabric = &fabric, .peer = 1 - world.Rank(), .key = {.channel = 1}};
    uit::Inlet<Message, every, Transports> inlet{to_other};
    uit::Outlet<Message, every, Transports> outlet{to_other};
    fabric.Connect();
    return fabric.Close() ? 0 : 1;
  });
}
