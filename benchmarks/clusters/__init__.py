"""Programs on two MPI ranks: ours, and with mpi4py and NumPy as a good user writes them."""
