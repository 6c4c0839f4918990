#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace bench::hand {

[[nodiscard]] inline bool Test(MPI_Request& request) {
  int is_done = 0;
  MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
  return is_done != 0;
}

/// A request, and the buffer that MPI uses until it completes.
struct Operation {
  std::unique_ptr<std::byte[]> buffer;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// Tells apart what the two ends send, if both are in one process. Each end has the other's tags swapped.
struct Tags {
  int out = 0;
  int in = 0;
};

/// Messages of up to `num_bytes` to a peer and back: a ring of nonblocking sends, one of receives, and credits. Credits travel in
/// messages or, if half of them are due, alone. Messages are written and read in place. The number of credits is a power of
/// two.
class IsendRing {
 public:
  /// Collective.
  IsendRing(int peer, std::size_t num_bytes, std::size_t num_credits) : IsendRing{Duplicate(), peer, num_bytes, num_credits, {}} {
    owns_communicator_ = true;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /// On a communicator that nobody else uses, and that stays longer than the ring.
  IsendRing(MPI_Comm communicator, int peer, std::size_t num_bytes, std::size_t num_credits, Tags tags)
      : peer_{peer}, num_bytes_{num_bytes}, communicator_{communicator}, tags_{tags}, sends_(num_credits), receives_(num_credits),
        credits_(4) {
    for (Operation& send : sends_) send.buffer = std::make_unique<std::byte[]>(sizeof(Header) + num_bytes);
    for (Operation& receive : receives_) {
      receive.buffer = std::make_unique<std::byte[]>(sizeof(Header) + num_bytes);
      Post(receive);
    }
    for (Operation& credit : credits_) {
      credit.buffer = std::make_unique<std::byte[]>(sizeof(std::uint64_t));
      PostCredit(credit);
    }
  }
  IsendRing(const IsendRing&) = delete;
  IsendRing& operator=(const IsendRing&) = delete;
  ~IsendRing() {
    for (Operation& send : sends_) MPI_Wait(&send.request, MPI_STATUS_IGNORE);
    for (auto* operations : {&receives_, &credits_}) {
      for (Operation& operation : *operations) {
        MPI_Cancel(&operation.request);
        MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
      }
    }
    if (owns_communicator_) MPI_Comm_free(&communicator_);
  }

  /// The buffer of the next message, or null without a credit.
  [[nodiscard]] std::byte* Room() {
    if (num_sent_ - num_acknowledged_ >= sends_.size() && !TryTakeCredit()) return nullptr;
    Operation& send = Next(sends_, num_sent_);
    return Test(send.request) ? send.buffer.get() + sizeof(Header) : nullptr;
  }
  /// Sends what was written to Room.
  void Send(std::size_t num_bytes) {
    Operation& send = Next(sends_, num_sent_++);
    Write(send, Header{.num_acknowledged = num_received_, .num_bytes = num_bytes});
    num_told_ = num_received_;
    const auto size = static_cast<int>(sizeof(Header) + num_bytes);
    MPI_Isend(send.buffer.get(), size, MPI_BYTE, peer_, 2 * tags_.out, communicator_, &send.request);
  }

  /// The next message, or null. It stays in place until Release.
  [[nodiscard]] const std::byte* Arrived() {
    Operation& receive = Next(receives_, num_received_);
    return Test(receive.request) ? receive.buffer.get() + sizeof(Header) : nullptr;
  }
  /// Of what has arrived.
  [[nodiscard]] std::size_t NumBytes() { return Read<Header>(Next(receives_, num_received_)).num_bytes; }
  /// Returns the buffer and the credit.
  void Release() {
    Operation& receive = Next(receives_, num_received_++);
    num_acknowledged_ = std::max(num_acknowledged_, Read<Header>(receive).num_acknowledged);
    Post(receive);
    if (num_received_ - num_told_ >= receives_.size() - receives_.size() / 2) SendCredit();
  }

 private:
  struct Header {
    std::uint64_t num_acknowledged = 0;
    std::uint64_t num_bytes = 0;
  };

  static Operation& Next(std::vector<Operation>& ring, std::uint64_t number) { return ring[number & (ring.size() - 1)]; }
  template <typename T>
  static T Read(const Operation& operation) {
    T value;
    std::memcpy(&value, operation.buffer.get(), sizeof value);
    return value;
  }
  template <typename T>
  static void Write(Operation& operation, const T& value) {
    std::memcpy(operation.buffer.get(), &value, sizeof value);
  }

  static MPI_Comm Duplicate() {
    MPI_Comm communicator = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    return communicator;
  }
  void Post(Operation& receive) {
    const auto size = static_cast<int>(sizeof(Header) + num_bytes_);
    MPI_Irecv(receive.buffer.get(), size, MPI_BYTE, peer_, 2 * tags_.in, communicator_, &receive.request);
  }
  void PostCredit(Operation& credit) {
    MPI_Irecv(credit.buffer.get(), sizeof(std::uint64_t), MPI_BYTE, peer_, 2 * tags_.in + 1, communicator_, &credit.request);
  }
  void SendCredit() {
    num_told_ = num_received_;
    MPI_Send(&num_told_, sizeof num_told_, MPI_BYTE, peer_, 2 * tags_.out + 1, communicator_);  // eager, and there is a receive
  }
  bool TryTakeCredit() {
    Operation& credit = Next(credits_, num_credits_taken_);
    if (!Test(credit.request)) return false;
    num_acknowledged_ = std::max(num_acknowledged_, Read<std::uint64_t>(credit));
    ++num_credits_taken_;
    PostCredit(credit);
    return num_sent_ - num_acknowledged_ < sends_.size();
  }

  int peer_;
  std::size_t num_bytes_;
  MPI_Comm communicator_;
  bool owns_communicator_ = false;
  Tags tags_;
  std::vector<Operation> sends_;
  std::vector<Operation> receives_;
  std::vector<Operation> credits_;
  std::uint64_t num_sent_ = 0;
  std::uint64_t num_acknowledged_ = 0;  // of those, by the peer
  std::uint64_t num_received_ = 0;
  std::uint64_t num_told_ = 0;  // of those, to the peer
  std::uint64_t num_credits_taken_ = 0;
};

}  // namespace bench::hand
