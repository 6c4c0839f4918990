// Clang's MPI checker must report errors here (tools/nightly_stages.sh). Otherwise it cannot follow the way in which uit/mpi
// calls MPI: through Check, in member functions. The error is a request that is used again before it is complete. Only that
// stage compiles this file.
#include <cstddef>
#include <vector>

#include <mpi.h>

#include <uit/mpi/error.hpp>

namespace {

/// A link that posts each receive twice.
class Ring {
 public:
  void Receive() {
    Operation& receive = receives_[next_receive_];
    Post(receive);
    Post(receive);
  }

 private:
  struct Operation {
    int word = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static void Post(Operation& receive) {
    uit::mpi::Check(MPI_Irecv(&receive.word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &receive.request), "MPI_Irecv");
  }

  std::vector<Operation> receives_{4};
  std::size_t next_receive_ = 0;
};

/// Sends a buffer twice with one request.
void Send(const int* word, int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  uit::mpi::Check(MPI_Isend(word, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request), "MPI_Isend");
  uit::mpi::Check(MPI_Isend(word, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request), "MPI_Isend");
  uit::mpi::Check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

}  // namespace

int main() {
  const int word = 1;
  Send(&word, 0);
  Ring{}.Receive();
}
