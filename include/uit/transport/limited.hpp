#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/codec/span_loan.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/support/ref.hpp>
#include <uit/transport/in_process.hpp>
#include <uit/transport/transport.hpp>

namespace uit {

/// Wraps a duct within a process and refuses messages that are too large when encoded. Inlet's thread only.
template <Encodable T, InletDuct<T> D>
class LimitedInletDuct final : public RefCounted {
 public:
  /// A put may throw MessageTooLarge.
  static constexpr bool refuses_large = true;
  /// As in the wrapped duct.
  static constexpr bool in_thread = is_in_thread<D>;

  /// Wraps `duct` and accepts messages of up to `max_message_bytes` bytes when encoded.
  LimitedInletDuct(Ref<D> duct, std::size_t max_message_bytes)
      : duct_(std::move(duct)), max_message_bytes_(max_message_bytes) {}

  /// Throws MessageTooLarge, or any exception of the codec's Size. Nothing has changed then.
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
  /// Like TryPut, but the outlet need not see the message before TryFlush.
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

  /// Lends memory for the next message, see Inlet. Throws MessageTooLarge as TryPut does.
  auto TryLoan(std::size_t num_elements)
    requires requires(D& duct) { duct.TryLend(); } && ResizableSpan<T>
  {
    CheckBytes(detail::BytesOfElements<detail::LoanElement<T>>(num_elements));
    return detail::TryLoan<T>(*duct_, num_elements);
  }
  /// Puts the elements if they are lent.
  bool PutLoan(std::span<detail::LoanElement<T>> elements)
    requires requires(D& duct) { duct.TryLend(); } && ResizableSpan<T>
  {
    return detail::PutLoan<T>(*duct_, elements);
  }

  // The optional members of the wrapped duct.

  /// As in the wrapped duct.
  bool TryFlush()
    requires requires(D& duct) { duct.TryFlush(); }
  {
    return duct_->TryFlush();
  }
  /// As in the wrapped duct.
  template <typename... Limit>
    requires requires(D& duct, Limit... limit) { duct.HoldInlet(true, limit...); }
  void HoldInlet(bool hold, Limit... limit) {
    duct_->HoldInlet(hold, limit...);
  }
  /// As in the wrapped duct.
  template <typename... Limit>
    requires requires(D& duct, Limit... limit) { duct.RefreshInlet(limit...); }
  void RefreshInlet(Limit... limit) {
    duct_->RefreshInlet(limit...);
  }
  /// As in the wrapped duct, whose outlet may be refreshed through its inlet.
  void RefreshOutlet()
    requires requires(D& duct) { duct.RefreshOutlet(); }
  {
    duct_->RefreshOutlet();
  }
  /// As in the wrapped duct.
  bool IsInletHeld() const
    requires requires(const D& duct) { duct.IsInletHeld(); }
  {
    return std::as_const(*duct_).IsInletHeld();
  }
  /// As in the wrapped duct.
  bool IsClosed() const
    requires requires(const D& duct) { duct.IsClosed(); }
  {
    return std::as_const(*duct_).IsClosed();
  }
  /// As in the wrapped duct.
  std::uint64_t NumAccepted() const
    requires requires(const D& duct) { duct.NumAccepted(); }
  {
    return std::as_const(*duct_).NumAccepted();
  }
  /// As in the wrapped duct.
  std::uint64_t NumPreempted() const
    requires requires(const D& duct) { duct.NumPreempted(); }
  {
    return std::as_const(*duct_).NumPreempted();
  }

 private:
  // For a range of elements, Size is cheap. CerealCodec visits the whole object, which costs about as much as a copy. It
  // is still called, because otherwise the location of the other end would decide whether a put throws.
  void Check(const T& message) const {
    CheckBytes(codec_for<T>.Size(message));
  }
  void CheckBytes(std::size_t num_bytes) const {
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

/// A transport within a process that refuses the same messages as Process, with the same error. If message sizes differ,
/// it refuses messages larger than `max_message_bytes` when encoded. Messages of fixed size use the transport's own duct
/// directly.
///
///     using Transports = uit::TransportSet<uit::Limited<uit::Thread>, uit::Process>;
///     uit::Inlet<std::string, uit::every, Transports> inlet;   // throws for the same messages with either transport
template <PairTransport X>
struct Limited {
  X reach{};                               ///< the limited transport
  std::size_t max_message_bytes = 65'536;  ///< the largest message, encoded

  /// The duct that an outlet refers to.
  template <Message T, Policy policy>
  using OutletDuctFor = typename X::template OutletDuctFor<T, policy>;

  /// The duct that an inlet refers to.
  template <Message T, Policy policy>
  using InletDuctFor =
      typename decltype(detail::ChooseLimitedInletDuct<T, typename X::template InletDuctFor<T, policy>>())::type;

  /// Throws what the limited transport throws.
  template <Message T, Policy policy>
  [[nodiscard]] auto OpenPair(T initial) const {
    auto [inlet, outlet] = reach.template OpenPair<T, policy>(std::move(initial));
    return std::pair{Limit<T, policy>(std::move(inlet)), std::move(outlet)};
  }
  /// Limits an inlet's duct of the limited transport.
  template <Message T, Policy policy>
  [[nodiscard]] Ref<InletDuctFor<T, policy>> Limit(Ref<typename X::template InletDuctFor<T, policy>> duct) const {
    if constexpr (Encodable<T> && !FixedSizeEncodable<T>)
      return MakeRef<InletDuctFor<T, policy>>(std::move(duct), max_message_bytes);
    else
      return duct;
  }
};

static_assert(PairTransport<Limited<Intra>> && PairTransport<Limited<Thread>>);

}  // namespace uit
