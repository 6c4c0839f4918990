// Processes in a ring greet their right neighbours as often as they can. No process waits for another.
//
//     mpirun -n 4 hello_mpi

#include <chrono>
#include <cstdio>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/app/session.hpp>
#include <uit/outlet.hpp>
#include <uit/support/clock.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

struct Greeting {
  int from = -1;
  long number = 0;
};

// Only the newest greeting matters: it replaces an unread older one.
constexpr uit::Policy newest{.retain = uit::Retain::latest};
using Transports = uit::TransportSet<uit::Process>;

int main(int argc, char** argv) {
  uit::mpi::Session session{argc, argv};
  const std::size_t here = session.Rank();
  const std::size_t right = (here + 1) % session.Size();
  const std::size_t left = (here + session.Size() - 1) % session.Size();

  // A fabric holds this process's connections. Each end of a conduit names the same key, and the rank of the other end.
  uit::Fabric fabric{session.World()};
  uit::Inlet<Greeting, newest, Transports> inlet{uit::Process{.fabric = &fabric, .peer = right, .key = {.channel = 1}}};
  uit::Outlet<Greeting, newest, Transports> outlet{uit::Process{.fabric = &fabric, .peer = left, .key = {.channel = 1}}};
  fabric.Connect();  // collective; from here on messages flow

  long num_put = 0;
  const uit::Deadline end = uit::After(std::chrono::milliseconds(200));
  while (uit::Now() < end) {
    inlet.TryPut({static_cast<int>(here), ++num_put});  // never waits
    outlet.Jump();                                      // steps to the newest message that has arrived, if any
  }
  fabric.Close();  // collective; messages in flight arrive

  outlet.Jump();
  const uit::GetTally gets = outlet.Tally();
  std::printf("rank %zu sent %ld greetings, read %lu of those from rank %d, the last of them number %ld\n", here,
              num_put, static_cast<unsigned long>(gets.stepped), outlet.Get().from, outlet.Get().number);
}
