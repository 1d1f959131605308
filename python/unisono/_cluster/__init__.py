"""Engines of ipyparallel on the ranks of an MPI job, driven from a notebook or a script."""

from .cluster import Cluster as Cluster
from .cluster import cluster as cluster
from .errors import RemoteError as RemoteError
