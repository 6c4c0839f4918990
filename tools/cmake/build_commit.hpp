#pragma once

/// The commit that a program's sources are of; tools/cmake/WriteBuildCommit.cmake looks it up at each build.
namespace uit_build {

/// 12 hexadecimal digits: the newest commit that changed a source. Ends in `-dirty` if a source had changes that were not
/// committed. Empty if the sources are not a checkout of the repository.
extern const char* const commit;

}  // namespace uit_build
