#pragma once

/// The commit of a program's sources; tools/cmake/WriteBuildCommit.cmake reads it at each build.
namespace uit_build {

/// 12 hexadecimal digits: the newest commit that changed a source. Ends in `-dirty` if a source had changes that were not
/// committed. Empty if the sources are not a checkout of the repository.
extern const char* const commit;

}  // namespace uit_build
