#pragma once

// MPI's codes are ints. SimGrid's MPI_SUCCESS is of an enumeration, which the type of a lambda would be deduced from.
#include <mpi.h>
#define MPI_SUCCESS static_cast<int>(MPI_SUCCESS)
