// A pool has one slot per channel, so messages of variable size are refused.
#include <vector>

#include <uit/inlet.hpp>
#include <uit/transport/process.hpp>

uit::Process::InletDuctFor<std::vector<int>, uit::Policy{.consolidate = uit::Consolidate::pooled}>* duct = nullptr;
