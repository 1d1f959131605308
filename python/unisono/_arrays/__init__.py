"""Arrays: making, viewing, indexing, joining, printing and exchanging them."""
