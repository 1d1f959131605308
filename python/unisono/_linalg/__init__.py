"""Linear algebra: products, factorisations, solutions, and the routines of BLAS and LAPACK."""
