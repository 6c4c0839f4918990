#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/support/ref.hpp>
#include <uit/transport/in_process.hpp>
#include <uit/transport/transport.hpp>

namespace uit {

/// Stands before a duct within a process, and refuses messages that are too large when encoded. The inlet's thread only.
template <Encodable T, InletDuct<T> D>
class LimitedInletDuct final : public RefCounted {
 public:
  /// A put may throw MessageTooLarge.
  static constexpr bool refuses_large = true;
  /// As the duct says.
  static constexpr bool in_thread = is_in_thread<D>;

  /// Before `duct`, for messages of up to `max_message_bytes`.
  LimitedInletDuct(Ref<D> duct, std::size_t max_message_bytes)
      : duct_(std::move(duct)), max_message_bytes_(max_message_bytes) {}

  /// Throws MessageTooLarge, and whatever the codec throws when it measures the message: then nothing has changed.
  bool TryPut(const T& message)
    requires std::copyable<T>
  {
    Check(message);
    return duct_->TryPut(message);
  }
  /// The same, by moving.
  bool TryPut(T&& message) {
    Check(message);
    return duct_->TryPut(std::move(message));
  }
  /// As TryPut, but the outlet need not see the message before TryFlush.
  bool TryStage(const T& message)
    requires requires(D& duct) { duct.TryStage(message); }
  {
    Check(message);
    return duct_->TryStage(message);
  }
  /// The same, by moving.
  bool TryStage(T&& message)
    requires requires(D& duct) { duct.TryStage(std::move(message)); }
  {
    Check(message);
    return duct_->TryStage(std::move(message));
  }

  // What the duct has of the rest.

  /// As the duct.
  bool TryFlush()
    requires requires(D& duct) { duct.TryFlush(); }
  {
    return duct_->TryFlush();
  }
  /// As the duct.
  template <typename... Limit>
    requires requires(D& duct, Limit... limit) { duct.HoldInlet(true, limit...); }
  void HoldInlet(bool hold, Limit... limit) {
    duct_->HoldInlet(hold, limit...);
  }
  /// As the duct.
  template <typename... Limit>
    requires requires(D& duct, Limit... limit) { duct.RefreshInlet(limit...); }
  void RefreshInlet(Limit... limit) {
    duct_->RefreshInlet(limit...);
  }
  /// As the duct.
  bool IsInletHeld() const
    requires requires(const D& duct) { duct.IsInletHeld(); }
  {
    return std::as_const(*duct_).IsInletHeld();
  }
  /// As the duct.
  std::uint64_t NumAccepted() const
    requires requires(const D& duct) { duct.NumAccepted(); }
  {
    return std::as_const(*duct_).NumAccepted();
  }
  /// As the duct.
  std::uint64_t NumPreempted() const
    requires requires(const D& duct) { duct.NumPreempted(); }
  {
    return std::as_const(*duct_).NumPreempted();
  }

 private:
  // Measuring a row of elements is cheap. CerealCodec walks the whole object, which costs about as much as a copy; it is
  // measured all the same, because otherwise the placement of the other end would decide whether a put throws.
  void Check(const T& message) const {
    const std::size_t num_bytes = codec_for<T>.Size(message);
    if (num_bytes > max_message_bytes_) [[unlikely]]
      throw MessageTooLarge(num_bytes, max_message_bytes_);
  }

  Ref<D> duct_;
  std::size_t max_message_bytes_;
};

namespace detail {

template <Message T, typename D>
consteval auto ChooseLimitedInletDuct() {
  if constexpr (Encodable<T> && !FixedSizeEncodable<T>) return std::type_identity<LimitedInletDuct<T, D>>{};
  else return std::type_identity<D>{};
}

}  // namespace detail

/// A transport within a process that refuses the same messages as Process, in the same words: if messages have sizes of their
/// own, those larger than `max_message_bytes` when encoded. Messages of one size go straight through the transport's own duct.
///
///     using Transports = uit::TransportSet<uit::Limited<uit::Thread>, uit::Process>;
///     uit::Inlet<std::string, uit::every, Transports> inlet;   // throws for the same messages with either transport
template <PairTransport X>
struct Limited {
  X reach{};                               ///< the transport that is limited
  std::size_t max_message_bytes = 65'536;  ///< of a message, encoded

  /// What an outlet refers to.
  template <Message T, Policy policy>
  using OutletDuctFor = typename X::template OutletDuctFor<T, policy>;

  /// What an inlet refers to.
  template <Message T, Policy policy>
  using InletDuctFor =
      typename decltype(detail::ChooseLimitedInletDuct<T, typename X::template InletDuctFor<T, policy>>())::type;

  /// Throws what the transport throws.
  template <Message T, Policy policy>
  [[nodiscard]] auto OpenPair(T initial) const {
    auto [inlet, outlet] = reach.template OpenPair<T, policy>(std::move(initial));
    if constexpr (Encodable<T> && !FixedSizeEncodable<T>)
      return std::pair{MakeRef<InletDuctFor<T, policy>>(std::move(inlet), max_message_bytes), std::move(outlet)};
    else
      return std::pair{std::move(inlet), std::move(outlet)};
  }
};

static_assert(PairTransport<Limited<Intra>> && PairTransport<Limited<Thread>>);

}  // namespace uit
