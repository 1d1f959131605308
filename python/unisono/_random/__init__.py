"""Random numbers: generators, seeds, and the methods that draw."""
