# Environment of the programs that ./run and ./test start; meant to be sourced in the tree's root.

# Open MPI refuses to start as root, and with more ranks than cores, unless told that both are meant.
if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_rmaps_base_oversubscribe=1

# mpirun watches its sockets by poll: by epoll it misses now and then a process that starts while another one ends, and waits
# for ever (a fault of PMIx, see docs/messages.md).
export EVENT_NOEPOLL=1

# Programs started by name (python, pytest, ruff) are the environment's.
export VIRTUAL_ENV="$PWD/.venv"
export PATH="$PWD/.venv/bin:$PATH"

# Bytecode is kept, also where the environment forbids it (as images of containers do): the tests start thousands of
# processes, and each would compile the package's sources again.
unset PYTHONDONTWRITEBYTECODE
