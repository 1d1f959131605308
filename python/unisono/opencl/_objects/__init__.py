"""The objects of OpenCL: platforms, queues, memory and programs, on the library that `driver` calls."""
