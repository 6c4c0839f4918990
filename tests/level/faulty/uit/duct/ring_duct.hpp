#include <mpi.h>
#include <netuit/topology.hpp>
inline void Publish() { atomic_thread_fence(); }
