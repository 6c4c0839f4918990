#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // Open MPI: which extensions it has
#endif

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

/// Exchanges of halos by hand over MPI: of what each rank sends to those that read its values, in every update.
namespace bench::hand {

/// What a rank sends to another and receives from there, in bytes. The parts of a buffer follow each other.
struct HaloPart {
  int peer;
  int num_sent;
  int num_received;
};

/// Start sends the parts of one buffer and receives into those of another, which both stay the caller's until Wait returns. Test
/// lets MPI work on messages that it does not send at once, as it does only inside a call (Hoefler and Lumsdaine, "Message progression
/// in parallel computing – to thread or not to thread?", 2008). Parts are in the same order as the ranks.
template <typename E>
concept HaloExchange = std::constructible_from<E, std::span<const HaloPart>, const void*, void*> && requires(E& exchange) {
  exchange.Start();
  exchange.Test();
  exchange.Wait();
};

/// A receive and a send from rank to rank for each part.
class Requests {
 public:
  void Test() {
    int is_done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &is_done, MPI_STATUSES_IGNORE);
  }
  void Wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

 protected:
  Requests(std::span<const HaloPart> parts, const void* outgoing, void* incoming)
      : parts_{parts.begin(), parts.end()},
        outgoing_{static_cast<const std::byte*>(outgoing)},
        incoming_{static_cast<std::byte*>(incoming)},
        requests_(2 * parts.size(), MPI_REQUEST_NULL) {}

  /// Calls `receive` for all parts and then `send`, with the arguments of MPI_Irecv and MPI_Isend.
  void Make(auto receive, auto send) {
    MPI_Request* request = requests_.data();
    std::byte* in = incoming_;
    for (const HaloPart& part : parts_) {
      receive(in, part.num_received, MPI_BYTE, part.peer, 0, MPI_COMM_WORLD, request++);
      in += part.num_received;
    }
    const std::byte* out = outgoing_;
    for (const HaloPart& part : parts_) {
      send(out, part.num_sent, MPI_BYTE, part.peer, 0, MPI_COMM_WORLD, request++);
      out += part.num_sent;
    }
  }
  std::vector<MPI_Request>& All() { return requests_; }

 private:
  std::vector<HaloPart> parts_;
  const std::byte* outgoing_;
  std::byte* incoming_;
  std::vector<MPI_Request> requests_;
};

/// Requests made anew in every update (MPI 3.1, section 3.7). Open MPI sends a small message at once then, and a persistent one not.
class NewRequests : public Requests {
 public:
  NewRequests(std::span<const HaloPart> parts, const void* outgoing, void* incoming) : Requests{parts, outgoing, incoming} {}
  void Start() { Make(MPI_Irecv, MPI_Isend); }
};
static_assert(HaloExchange<NewRequests>);

/// Persistent requests (MPI 3.1, section 3.9), as PETSc's scatters use them.
class PersistentRequests : public Requests {
 public:
  PersistentRequests(std::span<const HaloPart> parts, const void* outgoing, void* incoming) : Requests{parts, outgoing, incoming} {
    Make(MPI_Recv_init, MPI_Send_init);
  }
  PersistentRequests(const PersistentRequests&) = delete;
  PersistentRequests& operator=(const PersistentRequests&) = delete;
  ~PersistentRequests() {
    for (MPI_Request& request : All()) MPI_Request_free(&request);
  }
  void Start() { MPI_Startall(static_cast<int>(All().size()), All().data()); }
};
static_assert(HaloExchange<PersistentRequests>);

/// One neighbourhood collective on a distributed graph (MPI 3.1, sections 7.5.4 and 7.7; Hoefler and Träff, "Sparse collective
/// operations for MPI", 2009): MPI_Neighbor_alltoallv_init where the MPI has it, else MPI_Ineighbor_alltoallv.
class NeighborCollective {
 public:
  /// Collective over all ranks.
  NeighborCollective(std::span<const HaloPart> parts, const void* outgoing, void* incoming) : out_{outgoing}, in_{incoming} {
    std::vector<int> peers;
    int sent = 0, received = 0;
    for (const HaloPart& part : parts) {
      peers.push_back(part.peer);
      num_sent_.push_back(part.num_sent);
      num_received_.push_back(part.num_received);
      first_sent_.push_back(sent);
      first_received_.push_back(received);
      sent += part.num_sent;
      received += part.num_received;
    }
    const auto degree = static_cast<int>(peers.size());
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, peers.data(), MPI_UNWEIGHTED, degree, peers.data(), MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph_);
#if MPI_VERSION >= 4
    MPI_Neighbor_alltoallv_init(out_, num_sent_.data(), first_sent_.data(), MPI_BYTE, in_, num_received_.data(),
                                first_received_.data(), MPI_BYTE, graph_, MPI_INFO_NULL, &request_);
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
    MPIX_Neighbor_alltoallv_init(out_, num_sent_.data(), first_sent_.data(), MPI_BYTE, in_, num_received_.data(),
                                 first_received_.data(), MPI_BYTE, graph_, MPI_INFO_NULL, &request_);
#endif
    is_persistent_ = request_ != MPI_REQUEST_NULL;
  }
  NeighborCollective(const NeighborCollective&) = delete;
  NeighborCollective& operator=(const NeighborCollective&) = delete;
  /// Collective.
  ~NeighborCollective() {
    if (is_persistent_) MPI_Request_free(&request_);
    MPI_Comm_free(&graph_);
  }

  void Start() {
    if (is_persistent_)
      MPI_Start(&request_);
    else
      MPI_Ineighbor_alltoallv(out_, num_sent_.data(), first_sent_.data(), MPI_BYTE, in_, num_received_.data(),
                              first_received_.data(), MPI_BYTE, graph_, &request_);
  }
  void Test() {
    int is_done = 0;
    MPI_Test(&request_, &is_done, MPI_STATUS_IGNORE);
  }
  void Wait() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  const void* out_;
  void* in_;
  std::vector<int> num_sent_, num_received_, first_sent_, first_received_;
  MPI_Comm graph_ = MPI_COMM_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool is_persistent_ = false;
};
static_assert(HaloExchange<NeighborCollective>);

}  // namespace bench::hand
