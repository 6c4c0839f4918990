inline void Careless(MPI_Comm& communicator) {
  int rank = 0;
  Check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  if (rank == 0)
    MPI_Comm_free(&communicator);
  (void)MPI_Barrier(communicator);
  static_cast<void>(MPI_Comm_dup(communicator, &communicator));
  std::ignore = MPI_Comm_size(communicator, &rank);
}
