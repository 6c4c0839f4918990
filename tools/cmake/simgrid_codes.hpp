#pragma once

// MPI's codes are ints, but SimGrid's MPI_SUCCESS has an enumeration type, which a lambda would deduce as its return type.
#include <mpi.h>
#define MPI_SUCCESS static_cast<int>(MPI_SUCCESS)
