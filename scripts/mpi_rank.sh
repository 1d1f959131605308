#!/usr/bin/env bash
# Runs a command as one rank of an MPI job: rank 0 writes to the terminal, the others to LOGS/mpi-rank-N.log.
logs=$1
shift
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
[ "$rank" -eq 0 ] || exec >"$logs/mpi-rank-$rank.log" 2>&1
exec "$@"
