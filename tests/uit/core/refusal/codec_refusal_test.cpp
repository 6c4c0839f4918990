// A string is not its bytes.
#include <string>
#include <uit/codec/trivial_codec.hpp>
uit::TrivialCodec<std::string> codec;
