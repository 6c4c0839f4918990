#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/policy.hpp>

namespace uit {

/// Messages whose elements can be written and read where a conduit keeps them. Their elements are their bytes, every message is
/// kept, and none shares a frame.
template <typename T, Policy policy>
concept LoanableUnder = ResizableSpan<T> && std::same_as<CodecFor<T>, SpanCodec<T>> && policy.retain == Retain::every &&
                        policy.backlog == Backlog::drop && policy.consolidate == Consolidate::none &&
                        alignof(detail::ElementOf<T>) <= alignof(std::size_t);

namespace detail {

/// The elements of such messages; std::byte for other messages, which are not lent.
template <typename T>
consteval auto ChooseLoanElement() {
  if constexpr (ResizableSpan<T>) return std::type_identity<ElementOf<T>>{};
  else return std::type_identity<std::byte>{};
}
template <typename T>
using LoanElement = typename decltype(ChooseLoanElement<T>())::type;

template <typename T>
auto Elements(T& message) {
  return std::span{std::to_address(std::begin(message)), static_cast<std::size_t>(std::end(message) - std::begin(message))};
}

/// Returns the bytes of so many elements, or the largest number if there is no such number.
template <typename E>
constexpr std::size_t BytesOfElements(std::size_t num_elements) {
  constexpr std::size_t most = ~std::size_t{0};
  return num_elements > most / sizeof(E) ? most : num_elements * sizeof(E);
}

/// Lends memory for the next message of a duct; see Inlet::TryLoan.
template <typename T, typename D>
std::optional<std::span<LoanElement<T>>> TryLoan(D& duct, std::size_t num_elements) {
  if constexpr (requires { duct.TryLoan(num_elements); }) {
    return duct.TryLoan(num_elements);
  } else if constexpr (requires { duct.TryLend(); }) {
    T* const message = duct.TryLend();
    if (message == nullptr) return std::nullopt;
    message->resize(num_elements);
    return Elements(*message);
  } else {
    return std::nullopt;
  }
}

/// Puts the message whose first elements are `elements` if they are lent; see Inlet::Publish.
template <typename T, typename D>
bool PutLoan(D& duct, std::span<LoanElement<T>> elements) {
  if constexpr (requires { duct.PutLoan(elements); }) {
    return duct.PutLoan(elements);
  } else if constexpr (requires { duct.TryLend(); }) {
    T* const message = duct.TryLend();
    if (message == nullptr) return false;
    const auto lent = Elements(*message);
    if (lent.data() != elements.data() || lent.size() < elements.size()) return false;
    message->resize(elements.size());
    duct.PutLent();
    return true;
  } else {
    return false;
  }
}

}  // namespace detail

}  // namespace uit
