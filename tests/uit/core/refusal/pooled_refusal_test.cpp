// A pool has a slot for each channel, so that its messages have one size.
#include <vector>

#include <uit/inlet.hpp>
#include <uit/transport/process.hpp>

uit::Process::InletDuctFor<std::vector<int>, uit::Policy{.consolidate = uit::Consolidate::pooled}>* duct = nullptr;
