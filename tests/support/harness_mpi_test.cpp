// What the test functions of the build rely on. Each hidden case is run by its name, and must make its run fail.
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/support/catch.hpp"

namespace {

int Rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void* volatile leaked = nullptr;
void* volatile unwritten = nullptr;
int raced = 0;

}  // namespace

TEST_CASE("there are two ranks") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size == 2);
}

TEST_CASE("a check fails on rank 1 alone", "[.]") { CHECK(Rank() != 1); }

TEST_CASE("rank 1 never ends", "[.]") {
  while (Rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("rank 1 leaks", "[.]") {
  if (Rank() == 1) leaked = std::malloc(1234);
  leaked = nullptr;
  CHECK(leaked == nullptr);
}

TEST_CASE("two threads write one int", "[.]") {
  std::thread other{[] { ++raced; }};
  ++raced;
  other.join();
  CHECK(raced <= 2);
}

TEST_CASE("a word is read that MPI is to receive", "[.]") {
  const auto word = std::make_unique<int>(1);
  const int sent = 2;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(word.get(), 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  CHECK(*word != sent);
  MPI_Send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(*word == sent);
}

TEST_CASE("a word is sent that nobody has written", "[.]") {
  int received = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  unwritten = std::malloc(sizeof received);
  MPI_Irecv(&received, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  MPI_Send(unwritten, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  std::free(unwritten);
}
