#include <mpi.h>
#include <netuit/graph/topology.hpp>
inline void Publish() { atomic_thread_fence(); }
