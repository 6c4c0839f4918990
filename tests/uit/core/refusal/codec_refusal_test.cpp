// A string has no codec, because its bytes do not hold its text.
#include <string>
#include <uit/codec/trivial_codec.hpp>
uit::TrivialCodec<std::string> codec;
