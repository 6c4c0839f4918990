#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <random>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/probe.hpp>
#include <uit/support/pause.hpp>

#include "demos/common/complete.hpp"
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
  /// Hands the token on, if this process has it. Call it without nodes and with no question open. The token turns black where a
  /// process has given nodes away since it had the token last: then somebody whom the token has passed may have some.
  void PassToken() {
    if (token_ == Token::elsewhere) return;
    const bool is_white = token_ == Token::white && !gave_nodes_;
    Token next = Token::over;
    if (rank_ == 0) next = is_white ? Token::over : Token::white;
    else if (token_ != Token::over) next = is_white ? Token::white : Token::black;
    is_over_ = next == Token::over;
    gave_nodes_ = false;
    token_ = Token::elsewhere;
    if (!is_over_ || rank_ + 1 < size_) Send((rank_ + 1) % size_, token, {}, next);
  }
  /// Takes in all messages that have arrived. Returns whether there was any but questions.
  bool TakeMessages() {
    bool has_any = false;
    while (const auto arrival = uit::mpi::Probe(communicator_, MPI_ANY_SOURCE, MPI_ANY_TAG)) {
      Take(*arrival);
      has_any |= arrival->tag != ask;
    }
    return has_any;
  }
  void Take(const uit::mpi::Arrival& arrival) {
    if (arrival.tag == token) {
      Receive(&token_, arrival);
    } else if (arrival.tag == answer) {
      const std::size_t num_before = open_.size();
      open_.resize(num_before + arrival.num_bytes / sizeof(Node));
      Receive(open_.data() + num_before, arrival);
      is_asking_ = false;
    } else {
      Receive(nullptr, arrival);
      const auto end = open_.begin() + static_cast<std::ptrdiff_t>(open_.size() / 2);
      std::vector<Node> older(open_.begin(), end);
      open_.erase(open_.begin(), end);
      gave_nodes_ |= !older.empty();
      Send(arrival.source, answer, std::move(older), {});
    }
  }
  /// After the end: others may still wait for an answer, though not this process.
  void Leave() {
    MPI_Request everybody = MPI_REQUEST_NULL;
    uit::mpi::Check(MPI_Ibarrier(communicator_, &everybody), "MPI_Ibarrier");
    uit::WaitUntil([&] {
      TakeMessages();
      return uit::mpi::IsComplete(everybody);
    });
    for (Sent& sent : sent_) uit::mpi::Await(sent.request);
    sent_.clear();
  }

  void Send(int to, Tag tag, std::vector<Node> nodes, Token says) {
    std::erase_if(sent_, [](Sent& sent) { return uit::mpi::IsComplete(sent.request); });
    Sent& sent = sent_.emplace_back(Sent{.nodes = std::move(nodes), .token = says});
    const bool is_token = tag == token;
    const void* const bytes = is_token ? static_cast<const void*>(&sent.token) : sent.nodes.data();
    const auto num_bytes = static_cast<int>(is_token ? sizeof says : sent.nodes.size() * sizeof(Node));
    uit::mpi::Check(MPI_Isend(bytes, num_bytes, MPI_BYTE, to, tag, communicator_, &sent.request), "MPI_Isend");
  }
  void Receive(void* to, const uit::mpi::Arrival& arrival) {
    demo::Complete("MPI_Irecv", [&](MPI_Request* request) {
      return MPI_Irecv(to, static_cast<int>(arrival.num_bytes), MPI_BYTE, arrival.source, arrival.tag, communicator_, request);
    });
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
