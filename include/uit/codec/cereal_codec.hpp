#pragma once

/// Sends messages that cereal can serialize. Include this header explicitly: the rest of the library does not need cereal.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <type_traits>

#include <cereal/cereal.hpp>

#include <uit/codec/codec.hpp>
#include <uit/duct/duct.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// The greatest nesting depth of objects, as cereal counts: each object that serializes itself, each container and each
/// pointer adds one or two levels. Writer and reader stop there, so no input can overflow the stack.
inline constexpr int max_cereal_depth = 1000;

/// An archive that writes an object's bytes, or only counts them. Throws cereal::Exception if there is no room left.
class CerealWriter : public cereal::OutputArchive<CerealWriter, cereal::AllowEmptyClassElision> {
 public:
  /// Only counts bytes.
  CerealWriter() : OutputArchive(this) {}
  /// Writes at the start of `to`.
  explicit CerealWriter(MutableByteView to) : OutputArchive(this), to_(to), is_counting_(false) {}

  /// The number of bytes written or counted so far.
  std::size_t NumBytes() const { return num_bytes_; }
  /// Called by cereal: appends bytes.
  void Write(const void* bytes, std::size_t num_bytes) {
    if (!is_counting_) {
      if (num_bytes > to_.size() - num_bytes_) throw cereal::Exception("an object has grown while it was written");
      if (num_bytes != 0) std::memcpy(to_.data() + num_bytes_, bytes, num_bytes);
    }
    num_bytes_ += num_bytes;
  }
  /// Called by cereal: an object begins (1) or ends (-1).
  void Nest(int levels) {
    depth_ += levels;
    if (depth_ > max_cereal_depth) throw cereal::Exception("an object is nested too deep");
  }

 private:
  MutableByteView to_{};
  std::size_t num_bytes_ = 0;
  int depth_ = 0;
  bool is_counting_ = true;
};

/// An archive that reads an object from untrusted bytes. Throws cereal::Exception if they do not encode an object.
class CerealReader : public cereal::InputArchive<CerealReader, cereal::AllowEmptyClassElision> {
 public:
  /// Reads from the start of `from`.
  explicit CerealReader(ByteView from) : InputArchive(this), reader_(from), num_elements_left_(from.size()) {}

  /// True if all bytes have been read.
  bool IsAtEnd() const { return reader_.Rest().empty(); }
  /// Called by cereal: takes the next bytes.
  void Read(void* to, std::size_t num_bytes) {
    ByteView bytes;
    if (!reader_.TryTake(num_bytes, bytes)) throw cereal::Exception("an object is cut short");
    if (num_bytes != 0) std::memcpy(to, bytes.data(), num_bytes);
  }
  /// Called by cereal: `count` elements follow. Each element takes at least one byte of its own, so all containers of an
  /// object together cannot have more elements than there are bytes. (So a container of elements that take no bytes may be
  /// refused.)
  void CheckElements(std::uint64_t count) {
    if (count > reader_.Rest().size() || count > num_elements_left_)
      throw cereal::Exception("a container has more elements than there are bytes");
    num_elements_left_ -= static_cast<std::size_t>(count);
  }
  /// Called by cereal: an object begins (1) or ends (-1).
  void Nest(int levels) {
    depth_ += levels;
    if (depth_ > max_cereal_depth) throw cereal::Exception("an object is nested too deep");
  }

 private:
  ByteReader reader_;
  std::size_t num_elements_left_;
  int depth_ = 0;
};

// Functions that cereal finds by name.

/// cereal calls this before each object.
template <typename T>
void prologue(CerealWriter& archive, const T&) {
  archive.Nest(1);
}
/// cereal calls this after each object.
template <typename T>
void epilogue(CerealWriter& archive, const T&) {
  archive.Nest(-1);
}
/// cereal calls this before each object.
template <typename T>
void prologue(CerealReader& archive, const T&) {
  archive.Nest(1);
}
/// cereal calls this after each object.
template <typename T>
void epilogue(CerealReader& archive, const T&) {
  archive.Nest(-1);
}

/// Writes a number.
template <typename T>
  requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(CerealWriter& archive, const T& number) {
  archive.Write(std::addressof(number), sizeof number);
}
/// Reads a number. As a bool, any byte except 0 is `true`.
template <typename T>
  requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(CerealReader& archive, T& number) {
  if constexpr (std::is_same_v<T, bool>) {
    unsigned char byte = 0;
    static_assert(sizeof byte == sizeof number);
    archive.Read(&byte, sizeof byte);
    number = byte != 0;
  } else {
    archive.Read(std::addressof(number), sizeof number);
  }
}
/// Serializes a named value; the name is not used.
template <typename Archive, typename T>
  requires std::is_same_v<Archive, CerealWriter> || std::is_same_v<Archive, CerealReader>
void CEREAL_SERIALIZE_FUNCTION_NAME(Archive& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}
/// Writes the number of elements that follow.
template <typename T>
void CEREAL_SAVE_FUNCTION_NAME(CerealWriter& archive, const cereal::SizeTag<T>& tag) {
  const std::uint64_t count = tag.size;
  archive.Write(&count, sizeof count);
}
/// Reads and checks the number of elements that follow.
template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(CerealReader& archive, cereal::SizeTag<T>& tag) {
  std::uint64_t count = 0;
  archive.Read(&count, sizeof count);
  archive.CheckElements(count);
  tag.size = static_cast<std::remove_reference_t<T>>(count);
}
/// Writes elements as their bytes.
template <typename T>
void CEREAL_SAVE_FUNCTION_NAME(CerealWriter& archive, const cereal::BinaryData<T>& data) {
  archive.Write(data.data, static_cast<std::size_t>(data.size));
}
/// Reads elements as their bytes.
template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(CerealReader& archive, cereal::BinaryData<T>& data) {
  archive.Read(data.data, static_cast<std::size_t>(data.size));
}

/// Encodes any type that cereal serializes, in the machine's byte order:
///
///     #include <cereal/types/vector.hpp>
///     #include <uit/codec/cereal_codec.hpp>
///     template <>
///     inline constexpr uit::CerealCodec<Genome> uit::codec_for<Genome>{};
///
/// cereal visits the object twice, the first time only to count. Both visits must give the same bytes.
template <Message T>
struct CerealCodec {
  /// Visits the object and returns its number of bytes. Throws cereal::Exception if the object is nested too deep.
  std::size_t Size(const T& message) const {
    CerealWriter counter;
    counter(message);
    return counter.NumBytes();
  }
  /// Visits the object and writes it. Throws cereal::Exception if the object needs more room than Size returned.
  void Encode(const T& message, MutableByteView to) const {
    CerealWriter writer(to);
    writer(message);
  }
  /// Reads the object back. False if the bytes do not encode such an object; `into` may then hold a part of it. Containers
  /// never get more elements than there are bytes, whatever the bytes say.
  bool TryDecode(ByteView from, T& into) const {
    try {
      CerealReader reader(from);
      reader(into);
      return reader.IsAtEnd();
    } catch (const std::exception&) {
      return false;
    }
  }
};

}  // namespace uit

CEREAL_SETUP_ARCHIVE_TRAITS(uit::CerealReader, uit::CerealWriter)
