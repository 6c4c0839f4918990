#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <random>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/support/pause.hpp>

#include "tree.hpp"

namespace uts {

/// Searches a tree on all processes by work stealing over MPI, written by hand (Dinan, Olivier, Sabin, Prins, Sadayappan, Tseng
/// 2007). A process without nodes asks another, which it draws at random. That one answers with the older half of its nodes, or
/// with none, as soon as it has visited some of its own. A token finds the end (Dijkstra, Feijen, van Gasteren 1983). A process that
/// throws does not free its communicator, because that could wait for the others.
class ByMpi {
 public:
  /// Collective. A process visits `nodes_per_turn` nodes before it looks for messages.
  ByMpi(std::size_t rank, std::size_t size, const Tree& tree, std::size_t nodes_per_turn)
      : rank_(static_cast<int>(rank)), size_(static_cast<int>(size)), tree_(tree), nodes_per_turn_(nodes_per_turn), random_(rank) {
    uit::mpi::Check(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "MPI_Comm_dup");
  }
  ByMpi(const ByMpi&) = delete;
  ByMpi& operator=(const ByMpi&) = delete;
  /// Collective.
  void Close() { uit::mpi::Check(MPI_Comm_free(&communicator_), "MPI_Comm_free"); }

  /// Collective. Returns what this process has found: the sums over all processes are those of the tree.
  Census Run() {
    census_ = {};
    is_over_ = size_ == 1;
    gave_nodes_ = false;
    token_ = rank_ == 0 ? Token::none_under_way : Token::elsewhere;
    if (rank_ == 0) open_.push_back(RootOf(tree_));
    uit::Backoff rest;
    while (!is_over_ || !open_.empty()) {
      VisitSome(tree_, nodes_per_turn_, open_, census_);
      const bool has_any = !open_.empty();
      if (TakeMessages() || has_any) rest.Reset();
      else rest.Rest();
      if (!open_.empty() || is_asking_ || is_over_) continue;
      PassToken();
      if (!is_over_) Ask();
    }
    Leave();
    return census_;
  }

 private:
  /// What a message is: its tag.
  enum Tag : int { ask = 1, answer, token };
  /// What a process knows of the token, and what the token says.
  enum class Token : std::int32_t { elsewhere, none_under_way, white, black, over };

  struct Sent {
    std::vector<Node> nodes{};
    Token token{};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// Asks a random other process for nodes.
  void Ask() {
    std::uniform_int_distribution<int> distance(1, size_ - 1);
    Send((rank_ + distance(random_)) % size_, ask, {}, {});
    is_asking_ = true;
  }
  /// Hands the token on, if this process has it, and waits for nothing. It is black if a process has given nodes away since it had
  /// the token last: then somebody whom the token has passed may have some.
  void PassToken() {
    if (token_ == Token::elsewhere) return;
    const bool is_black = token_ == Token::black || gave_nodes_;
    Token next = is_black ? Token::black : Token::white;
    if (rank_ == 0) next = token_ == Token::white && !gave_nodes_ ? Token::over : Token::white;
    if (token_ == Token::over) next = Token::over;
    is_over_ = next == Token::over;
    gave_nodes_ = false;
    token_ = Token::elsewhere;
    if (!is_over_ || rank_ + 1 < size_) Send((rank_ + 1) % size_, token, {}, next);
  }
  /// Takes in all messages that have arrived. Returns whether there was any but questions.
  bool TakeMessages() {
    bool has_any = false;
    for (;;) {
      int has_arrived = 0;
      MPI_Status status;
      uit::mpi::Check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &has_arrived, &status), "MPI_Iprobe");
      if (has_arrived == 0) return has_any;
      Take(status);
      has_any |= status.MPI_TAG != ask;
    }
  }
  void Take(const MPI_Status& status) {
    if (status.MPI_TAG == token) {
      Receive(&token_, sizeof token_, status);
    } else if (status.MPI_TAG == answer) {
      int num_bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &num_bytes);
      const std::size_t num_before = open_.size();
      open_.resize(num_before + static_cast<std::size_t>(num_bytes) / sizeof(Node));
      Receive(open_.data() + num_before, num_bytes, status);
      is_asking_ = false;
    } else {
      Receive(nullptr, 0, status);
      const auto end = open_.begin() + static_cast<std::ptrdiff_t>(open_.size() / 2);
      std::vector<Node> older(open_.begin(), end);
      open_.erase(open_.begin(), end);
      gave_nodes_ |= !older.empty();
      Send(status.MPI_SOURCE, answer, std::move(older), {});
    }
  }
  /// After the end: others may still wait for an answer, though not this process.
  void Leave() {
    MPI_Request everybody = MPI_REQUEST_NULL;
    uit::mpi::Check(MPI_Ibarrier(communicator_, &everybody), "MPI_Ibarrier");
    uit::Backoff rest;
    for (int has_ended = 0; has_ended == 0; rest.Rest()) {
      TakeMessages();
      uit::mpi::Check(MPI_Test(&everybody, &has_ended, MPI_STATUS_IGNORE), "MPI_Test");
    }
    for (Sent& sent : sent_) uit::mpi::Check(MPI_Wait(&sent.request, MPI_STATUS_IGNORE), "MPI_Wait");  // all have been received
    sent_.clear();
  }

  void Send(int to, Tag tag, std::vector<Node> nodes, Token says) {
    std::erase_if(sent_, [](Sent& sent) {
      int has_left = 0;
      uit::mpi::Check(MPI_Test(&sent.request, &has_left, MPI_STATUS_IGNORE), "MPI_Test");
      return has_left != 0;
    });
    Sent& sent = sent_.emplace_back(Sent{.nodes = std::move(nodes), .token = says});
    const bool is_token = tag == token;
    const void* const bytes = is_token ? static_cast<const void*>(&sent.token) : sent.nodes.data();
    const auto num_bytes = static_cast<int>(is_token ? sizeof says : sent.nodes.size() * sizeof(Node));
    uit::mpi::Check(MPI_Isend(bytes, num_bytes, MPI_BYTE, to, tag, communicator_, &sent.request), "MPI_Isend");
  }
  void Receive(void* to, int num_bytes, const MPI_Status& status) {
    MPI_Request request = MPI_REQUEST_NULL;
    uit::mpi::Check(MPI_Irecv(to, num_bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, communicator_, &request), "MPI_Irecv");
    uit::mpi::Check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");  // the message has arrived
  }

  int rank_;
  int size_;
  Tree tree_;
  std::size_t nodes_per_turn_;
  std::minstd_rand random_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  Census census_{};
  std::vector<Node> open_{};  // not visited yet
  std::list<Sent> sent_{};    // that MPI may still read
  Token token_ = Token::elsewhere;
  bool is_asking_ = false;    // and has no answer yet
  bool gave_nodes_ = false;   // since it had the token last
  bool is_over_ = false;
};

}  // namespace uts
