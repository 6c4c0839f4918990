#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/mpi/keep.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/link.hpp>

namespace uit::mpi {

/// A link over MPI's nonblocking point-to-point calls, to one peer with one tag.
///
/// Sends and receives are two rings of requests, and the link owns their buffers. MPI matches messages of one sender in
/// order, so only the receive posted first is ever tested. Calls must be serialized with all other calls to MPI. If MPI
/// reports that the peer has ended, the peer is treated as one that does not answer: frames to it stay in flight, and no
/// frames come.
class MpiLink {
 public:
  /// The communicator must return errors and outlive the link. Throws if MPI refuses a receive.
  MpiLink(MPI_Comm communicator, int peer, int tag, const LinkOptions& options)
      : communicator_(communicator),
        peer_(peer),
        tag_(tag),
        payload_bytes_(options.payload_bytes),
        sends_(std::max<std::size_t>(options.num_sends, 1)),
        receives_(std::max<std::size_t>(options.num_receives, 1)) {
    CheckedCount(sizeof(FrameHeader) + payload_bytes_);
    for (Operation& send : sends_) send.frame.Reserve(payload_bytes_);
    for (Operation& receive : receives_) {
      receive.frame.Reserve(payload_bytes_);
      Post(receive);
    }
  }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  /// True if the oldest send has left its buffer, so that TrySend would accept a frame. Throws if MPI fails.
  bool HasRoom() { return sends_[next_send_].IsDone(); }

  /// Starts a send if the oldest send has left its buffer; `frame` is then a spare buffer. Throws if the frame is larger
  /// than the link was opened for, or if MPI fails.
  bool TrySend(Frame& frame) {
    if (frame.Header().num_bytes > payload_bytes_)
      throw uit::Error("a frame of " + std::to_string(frame.Header().num_bytes) +
                       " bytes is too large for its link of " + std::to_string(payload_bytes_));
    Operation& send = sends_[next_send_];
    if (!send.IsDone()) return false;
    send.frame.Take(frame);
    const auto bytes = send.frame.Bytes();
    CheckUnlessEnded(
        MPI_Isend(bytes.data(), CheckedCount(bytes.size()), MPI_BYTE, peer_, tag_, communicator_, &send.request),
        "MPI_Isend");
    next_send_ = next_send_ + 1 == sends_.size() ? 0 : next_send_ + 1;
    return true;
  }

  /// If the next frame has arrived, moves it to `frame` and posts a receive into the old buffer of `frame`. Throws if MPI
  /// fails.
  bool TryReceive(Frame& frame) {
    Operation& receive = receives_[next_receive_];
    if (receive.request == MPI_REQUEST_NULL || !receive.IsDone()) return false;
    frame.Reserve(payload_bytes_);
    receive.frame.Swap(frame);
    Post(receive);
    next_receive_ = next_receive_ + 1 == receives_.size() ? 0 : next_receive_ + 1;
    return true;
  }

  /// Cancels the receives once every send has left its buffer. True once no request is pending. Throws if MPI fails.
  bool TryClose() {
    if (!std::ranges::all_of(sends_, [](Operation& send) { return send.IsDone(); })) return false;
    if (!is_cancelled_) {
      is_cancelled_ = true;
      for (Operation& receive : receives_) {
        if (receive.request != MPI_REQUEST_NULL) Check(MPI_Cancel(&receive.request), "MPI_Cancel");
      }
    }
    return std::ranges::all_of(receives_, [](Operation& receive) { return receive.IsDone(); });
  }

  /// Keeps the buffers of all pending requests until the process ends, and returns their number. Makes no MPI call.
  std::size_t Abandon() {
    std::size_t num_pending = 0;
    for (auto* operations : {&sends_, &receives_}) {
      for (Operation& operation : *operations) num_pending += operation.Abandon() ? 1 : 0;
    }
    return num_pending;
  }

 private:
  static void CheckUnlessEnded(int code, const char* call) {
    if (!MeansPeerEnded(code)) Check(code, call);
  }
  /// A request, and the buffer that MPI uses until it completes.
  struct Operation {
    Frame frame;
    MPI_Request request = MPI_REQUEST_NULL;

    Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    ~Operation() { Abandon(); }

    bool IsDone() {
      if (request == MPI_REQUEST_NULL) return true;
      int is_done = 0;
      const int code = MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
      CheckUnlessEnded(code, "MPI_Test");
      return code == MPI_SUCCESS && is_done != 0;
    }
    /// If the request is still pending, keeps its buffer for good, because MPI may still use it.
    bool Abandon() {
      if (request == MPI_REQUEST_NULL) return false;
      Keep(std::make_shared<Frame>(std::move(frame)));
      request = MPI_REQUEST_NULL;
      return true;
    }
  };

  void Post(Operation& receive) {
    const auto room = receive.frame.Room();
    CheckUnlessEnded(
        MPI_Irecv(room.data(), CheckedCount(room.size()), MPI_BYTE, peer_, tag_, communicator_, &receive.request),
        "MPI_Irecv");
  }

  MPI_Comm communicator_;
  int peer_;
  int tag_;
  std::size_t payload_bytes_;
  std::vector<Operation> sends_;
  std::vector<Operation> receives_;
  std::size_t next_send_ = 0;
  std::size_t next_receive_ = 0;
  bool is_cancelled_ = false;
};
static_assert(Link<MpiLink>);

}  // namespace uit::mpi
