#pragma once

/// Messages that cereal can serialize. Include it where you want it: nothing else of the library needs cereal.

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

/// How deep objects may be nested, as cereal counts: each object that serializes itself, container or pointer is a
/// level or two. Beyond it neither side goes, so that no bytes exhaust the stack.
inline constexpr int max_cereal_depth = 1000;

/// Writes what cereal gives it to bytes, or only counts them. Throws cereal::Exception when out of room.
class CerealWriter : public cereal::OutputArchive<CerealWriter, cereal::AllowEmptyClassElision> {
 public:
  /// Counts.
  CerealWriter() : OutputArchive(this) {}
  /// Writes to the head of `to`.
  explicit CerealWriter(MutableByteView to) : OutputArchive(this), to_(to), is_counting_(false) {}

  /// Bytes so far.
  std::size_t NumBytes() const { return num_bytes_; }
  /// For cereal: the next bytes.
  void Write(const void* bytes, std::size_t num_bytes) {
    if (!is_counting_) {
      if (num_bytes > to_.size() - num_bytes_) throw cereal::Exception("an object has grown while it was written");
      if (num_bytes != 0) std::memcpy(to_.data() + num_bytes_, bytes, num_bytes);
    }
    num_bytes_ += num_bytes;
  }
  /// For cereal: an object begins (1) or ends (-1).
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

/// Reads for cereal from bytes that cannot be trusted. Throws cereal::Exception where they are no object.
class CerealReader : public cereal::InputArchive<CerealReader, cereal::AllowEmptyClassElision> {
 public:
  /// Reads from the head of `from`.
  explicit CerealReader(ByteView from) : InputArchive(this), reader_(from), num_elements_left_(from.size()) {}

  /// Whether all bytes have been read.
  bool IsAtEnd() const { return reader_.Rest().empty(); }
  /// For cereal: the next bytes.
  void Read(void* to, std::size_t num_bytes) {
    ByteView bytes;
    if (!reader_.TryTake(num_bytes, bytes)) throw cereal::Exception("an object is cut short");
    if (num_bytes != 0) std::memcpy(to, bytes.data(), num_bytes);
  }
  /// For cereal: as many elements follow. Each takes a byte at least that is no other element's, so that all containers
  /// of an object together have no more elements than it has bytes. (Elements that take none are refused in number.)
  void CheckElements(std::uint64_t count) {
    if (count > reader_.Rest().size() || count > num_elements_left_)
      throw cereal::Exception("a container has more elements than there are bytes");
    num_elements_left_ -= static_cast<std::size_t>(count);
  }
  /// For cereal: an object begins (1) or ends (-1).
  void Nest(int levels) {
    depth_ += levels;
    if (depth_ > max_cereal_depth) throw cereal::Exception("an object is nested too deep");
  }

 private:
  ByteReader reader_;
  std::size_t num_elements_left_;
  int depth_ = 0;
};

// What cereal looks up by name.

/// An object begins.
template <typename T>
void prologue(CerealWriter& archive, const T&) {
  archive.Nest(1);
}
/// An object ends.
template <typename T>
void epilogue(CerealWriter& archive, const T&) {
  archive.Nest(-1);
}
/// An object begins.
template <typename T>
void prologue(CerealReader& archive, const T&) {
  archive.Nest(1);
}
/// An object ends.
template <typename T>
void epilogue(CerealReader& archive, const T&) {
  archive.Nest(-1);
}

/// A number.
template <typename T>
  requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(CerealWriter& archive, const T& number) {
  archive.Write(std::addressof(number), sizeof number);
}
/// A number; any byte but 0 is `true`.
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
/// A value that has a name, which is of no use here.
template <typename Archive, typename T>
  requires std::is_same_v<Archive, CerealWriter> || std::is_same_v<Archive, CerealReader>
void CEREAL_SERIALIZE_FUNCTION_NAME(Archive& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}
/// How many elements follow.
template <typename T>
void CEREAL_SAVE_FUNCTION_NAME(CerealWriter& archive, const cereal::SizeTag<T>& tag) {
  const std::uint64_t count = tag.size;
  archive.Write(&count, sizeof count);
}
/// How many elements follow.
template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(CerealReader& archive, cereal::SizeTag<T>& tag) {
  std::uint64_t count = 0;
  archive.Read(&count, sizeof count);
  archive.CheckElements(count);
  tag.size = static_cast<std::remove_reference_t<T>>(count);
}
/// Elements that equal their bytes.
template <typename T>
void CEREAL_SAVE_FUNCTION_NAME(CerealWriter& archive, const cereal::BinaryData<T>& data) {
  archive.Write(data.data, static_cast<std::size_t>(data.size));
}
/// Elements that equal their bytes.
template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(CerealReader& archive, cereal::BinaryData<T>& data) {
  archive.Read(data.data, static_cast<std::size_t>(data.size));
}

/// Encodes whatever cereal serializes, in the byte order of the machine:
///
///     #include <cereal/types/vector.hpp>
///     #include <uit/codec/cereal_codec.hpp>
///     template <>
///     inline constexpr uit::CerealCodec<Genome> uit::codec_for<Genome>{};
///
/// An object is walked twice, once to count, and has to come to the same bytes both times.
template <Message T>
struct CerealCodec {
  /// Walks the object, and counts. Throws cereal::Exception if it is nested too deep.
  std::size_t Size(const T& message) const {
    CerealWriter counter;
    counter(message);
    return counter.NumBytes();
  }
  /// Walks the object, and writes. Throws cereal::Exception if it needs more room than Size has said.
  void Encode(const T& message, MutableByteView to) const {
    CerealWriter writer(to);
    writer(message);
  }
  /// Reads it back; false for bytes that are no such object, of which `into` may then hold a part. Containers have no
  /// more elements than there are bytes, whatever the bytes say.
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
