"""An engine of a cluster, on one rank of the job that `cluster` starts."""

from .engine import main

if __name__ == "__main__":
    main()
