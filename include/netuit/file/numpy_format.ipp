#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <netuit/file/numpy_format.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE std::string NumpyHeader(const NumpyType& type, std::uint64_t count) {
  constexpr std::size_t grain = 64;  // values begin at a multiple of it
  const std::string shape = std::to_string(count) + (type.extents.empty() ? "," : type.extents);
  std::string text = "{'descr': '" + type.name + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const std::string magic("\x93NUMPY\x01\x00", 8);
  const std::size_t num_bytes = magic.size() + 2 + text.size() + 1;
  text.append((grain - num_bytes % grain) % grain, ' ');
  text += '\n';
  return magic + static_cast<char>(text.size() & 0xFFU) + static_cast<char>(text.size() >> 8U) + text;
}

}  // namespace netuit
