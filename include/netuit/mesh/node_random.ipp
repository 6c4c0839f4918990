#pragma once

#include <cstdint>

// Random123 includes every intrinsics header unless these macros select the ones it uses. That would cost a second of compile
// time.
#if (defined(__x86_64__) || defined(__i386__)) && !defined(R123_USE_X86INTRIN_H)
#define R123_USE_X86INTRIN_H 0
#define R123_USE_EMMINTRIN_H 1
#ifdef __SSE4_1__
#define R123_USE_SMMINTRIN_H 1
#endif
#ifdef __AES__
#define R123_USE_WMMINTRIN_H 1
#endif
#endif
#include <Random123/philox.h>

#include <netuit/mesh/node_random.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE void NodeRandom::DrawBlock() {
  const r123::Philox4x32::ctr_type counter{
      {node_, static_cast<std::uint32_t>(update_), static_cast<std::uint32_t>(update_ >> 32U), num_drawn_ / 4}};
  const auto drawn =
      r123::Philox4x32{}(counter, {{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32U)}});
  for (std::uint32_t i = 0; i < 4; ++i) block_[i] = drawn[i];
}

}  // namespace netuit
