#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/record_writer.hpp>
#include <netuit/replay/worker_record.hpp>
#include <uit/codec/codec.hpp>
#include <uit/duct/duct.hpp>
#include <uit/duct/step_until.hpp>
#include <uit/inlet.hpp>
#include <uit/policy.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/ref.hpp>

namespace netuit::replay {

/// Stands before an inlet's duct while a run is recorded or replayed. When recording, it passes calls to the duct and records
/// the answers. In a replay it answers from the record and does not use the duct. Only the inlet's thread may call it.
template <uit::Message T>
class InletInterceptor : public uit::RefCounted {
 public:
  static constexpr bool refuses_large = true;  ///< a put may throw uit::MessageTooLarge
  virtual ~InletInterceptor() = default;

  // The operations of an InletDuct.
  /// Copies the message.
  bool TryPut(const T& message) requires std::copyable<T> { return Offer(&message, nullptr); }
  /// Moves the message if it succeeds.
  bool TryPut(T&& message) { return Offer(nullptr, &message); }
  /// Copies the message; a replay does not wait.
  bool PutUntil(const T& message, uit::Deadline deadline) requires std::copyable<T> { return OfferUntil(&message, nullptr, deadline); }
  /// Moves the message if it succeeds; a replay does not wait.
  bool PutUntil(T&& message, uit::Deadline deadline) { return OfferUntil(nullptr, &message, deadline); }
  /// Whether everything has left.
  virtual bool TryFlush() = 0;
  /// Whether anything has arrived.
  virtual bool Poll() = 0;

 private:
  // Exactly one of the two pointers is null.
  virtual bool Offer(const T* copied, T* moved) = 0;
  virtual bool OfferUntil(const T* copied, T* moved, uit::Deadline deadline) = 0;
};

/// Stands behind an outlet's duct while a run is recorded or replayed; see InletInterceptor.
template <uit::Message T>
class OutletInterceptor : public uit::RefCounted {
 public:
  virtual ~OutletInterceptor() = default;

  // The operations of an OutletDuct.
  /// Returns the number of messages that it moved past.
  virtual std::size_t TryStep(std::size_t limit) = 0;
  /// Whether there was a message; a replay does not wait.
  virtual bool StepUntil(uit::Deadline deadline) = 0;
  /// Returns the current message.
  const T& Get() const { return *current_; }
  /// Returns the current message, which may be moved from.
  T& Get() { return *current_; }
  /// Returns the number of messages that steps moved past.
  std::uint64_t NumPassed() const { return num_passed_; }
  /// Does what the duct does, if it has this function.
  virtual std::uint64_t NumFolded() const = 0;
  /// Does what the duct does, if it has this function.
  virtual std::uint64_t NumPreempted() const = 0;
  /// Does what the duct does, if it has this function.
  virtual std::uint64_t NumUnread() const = 0;
  /// Gives the current message to the duct, so that the outlet keeps it when it is bound to the duct again.
  virtual void Leave() = 0;

 protected:
  T* current_ = nullptr;           ///< the message that Get returns
  std::uint64_t num_passed_ = 0;   ///< see NumPassed
};

/// Makes interceptors a member of a transport set. Ends are bound to them; they open no ends.
struct Intercepted {
  /// Same for every policy.
  template <uit::Message T, uit::Policy policy>
  using InletDuctFor = InletInterceptor<T>;
  /// Same for every policy.
  template <uit::Message T, uit::Policy policy>
  using OutletDuctFor = OutletInterceptor<T>;
};

/// An InletInterceptor for a duct of type `D`.
template <uit::Message T, uit::InletDuct<T> D>
class InletInterceptorOf final : public InletInterceptor<T> {
 public:
  /// Stands before `duct`.
  InletInterceptorOf(const WorkerRecord& record, uit::Ref<D> duct) : record_(record), duct_(std::move(duct)) {}

  bool TryFlush() override {
    return AskFor([this] { return duct_->TryFlush(); });
  }
  bool Poll() override {
    return AskFor([this] { return duct_->Poll(); });
  }

 private:
  bool Offer(const T* copied, T* moved) override {
    return Put([&] {
      return With(copied, moved, [&](auto&& message) { return duct_->TryPut(std::forward<decltype(message)>(message)); });
    });
  }
  bool OfferUntil(const T* copied, T* moved, uit::Deadline deadline) override {
    return Put([&] {
      return With(copied, moved, [&](auto&& message) {
        return uit::detail::PutUntil(*duct_, std::forward<decltype(message)>(message), deadline);
      });
    });
  }
  template <typename F>
  static bool With(const T* copied, T* moved, F&& put) {
    if constexpr (std::copyable<T>) {
      if (copied != nullptr) return put(*copied);
    }
    return put(std::move(*moved));
  }
  template <std::invocable F>
  bool Put(F&& put) {
    if (record_.reader != nullptr) {
      const Event event = record_.reader->Take();
      if (event == Event::put_threw) {
        put();  // throws again
        record_.reader->FailToFit("has a message that is not too large");
      }
      if (event != Event::put_accepted && event != Event::put_refused) record_.reader->FailToFit("puts");
      return event == Event::put_accepted;
    }
    bool is_accepted = false;
    try {
      is_accepted = put();
    } catch (...) {  // the message was too large, or its codec threw
      record_.writer->Add(Event::put_threw);
      throw;
    }
    record_.writer->Add(is_accepted ? Event::put_accepted : Event::put_refused);
    return is_accepted;
  }
  template <std::invocable F>
  bool AskFor(F&& ask) {
    if (record_.reader != nullptr) {
      const Event event = record_.reader->Take();
      if (event != Event::yes && event != Event::no) record_.reader->FailToFit("flushes or polls");
      return event == Event::yes;
    }
    const bool answer = ask();
    record_.writer->Add(answer ? Event::yes : Event::no);
    return answer;
  }

  WorkerRecord record_;
  uit::Ref<D> duct_;
};

/// An OutletInterceptor for a duct of type `D`.
template <uit::Encodable T, uit::Policy policy, uit::OutletDuct<T> D>
class OutletInterceptorOf final : public OutletInterceptor<T> {
 public:
  /// Stands behind `duct`. Throws what reading or writing a record throws.
  OutletInterceptorOf(const WorkerRecord& record, uit::Ref<D> duct) : record_(record), duct_(std::move(duct)) {
    current_ = &duct_->Get();
    if (record_.writer != nullptr) {
      Write(Event::current, 1);
    } else {
      if (record_.reader->Take() != Event::current) record_.reader->FailToFit("has an outlet");
      Read(Event::current, 1);
    }
  }

  std::size_t TryStep(std::size_t limit) override {
    if (record_.reader != nullptr) return TakeStep(limit);
    return Record(duct_->TryStep(limit));
  }
  bool StepUntil(uit::Deadline deadline) override {
    if (record_.reader != nullptr) return TakeStep(1) != 0;
    return Record(uit::detail::StepUntil(*duct_, deadline, [this] { return duct_->TryStep(1) != 0; }) ? 1 : 0) != 0;
  }
  std::uint64_t NumFolded() const override {
    if constexpr (requires { duct_->NumFolded(); }) return duct_->NumFolded();
    else return 0;
  }
  std::uint64_t NumPreempted() const override {
    if constexpr (requires { duct_->NumPreempted(); }) return duct_->NumPreempted();
    else return 0;
  }
  std::uint64_t NumUnread() const override { return duct_->NumUnread(); }
  void Leave() override {
    if (current_ == &replayed_) duct_->Get() = std::move(replayed_);
  }

 private:
  using Codec = uit::CodecFor<T>;
  static constexpr bool has_fixed_size = uit::FixedSizeEncodable<T>;
  using OutletInterceptor<T>::current_;
  using OutletInterceptor<T>::num_passed_;

  std::size_t Record(std::size_t count) {
    current_ = &duct_->Get();
    num_passed_ += count;
    if (count == 0) {
      record_.writer->Add(Event::step_none);
      return 0;
    }
    Write(count == 1 ? Event::step_one : Event::step_many, count);
    return count;
  }
  std::size_t TakeStep(std::size_t limit) {
    RecordReader& reader = *record_.reader;
    const Event event = reader.Take();
    if (event == Event::step_none) {
      if constexpr (policy.retain == uit::Retain::accumulate) {
        replayed_ = T{};
        current_ = &replayed_;
      }
      return 0;
    }
    if (event != Event::step_one && event != Event::step_many) reader.FailToFit("steps");
    const std::size_t count = Read(event, limit);
    num_passed_ += count;
    return count;
  }
  /// Records the event, and the current message after `count` messages.
  void Write(Event event, std::size_t count) {
    const std::size_t num_bytes = Codec{}.Size(*current_);
    std::byte* at = record_.writer->Reserve(2 * max_number_bytes + num_bytes);
    if (event == Event::step_many) at = WriteNumber(at, count);
    if constexpr (!has_fixed_size) at = WriteNumber(at, num_bytes);
    Codec{}.Encode(*current_, {at, num_bytes});
    record_.writer->Commit(event, at + num_bytes);
  }
  /// Makes the message that follows the event the current one. Returns the number of messages that the step moved past.
  std::size_t Read(Event event, std::size_t limit) {
    uit::ByteReader& rest = record_.reader->Rest();
    std::uint64_t count = 1;
    std::uint64_t num_bytes = 0;
    uit::ByteView bytes;
    if constexpr (has_fixed_size) num_bytes = Codec::fixed_size;
    const bool is_read = (event != Event::step_many || TryReadNumber(rest, count)) &&
                         (has_fixed_size || TryReadNumber(rest, num_bytes)) && rest.TryTake(num_bytes, bytes) &&
                         Codec{}.TryDecode(bytes, replayed_);
    if (!is_read || count == 0 || count > limit) record_.reader->FailToRead();
    current_ = &replayed_;
    return count;
  }

  WorkerRecord record_;
  uit::Ref<D> duct_;
  T replayed_{};
};

}  // namespace netuit::replay
