"""The lecture's C sources, compiled in memory: called from Python and from compiled Python.

Run: python examples/c_sources.py
"""

import numpy as np
import unisono as un

lib = un.c_module(
    r"""
# include <stdlib.h>
# include <math.h>

/* Returns a very crude
approximation of Pi
given a int: a number of
iteration */
float pi_approx(int n){

    double i,x,y,sum=0;

    for(i=0;i<n;i++){
        x=rand();
        y=rand();
        if (sqrt(x*x+y*y) < sqrt((double)RAND_MAX*RAND_MAX))
            sum++;}

    return 4*(float)sum/(float)n;}

double sumVec(double* v, int n){
    double sum = 0.0;
    for (int i=0; i<n; i++){
        sum += v[i];
    }
    return sum;
}
""",
    "float pi_approx(int n); double sumVec(double*, int);",
)


@un.jit
def row_means(table, means):
    for i in un.prange(table.shape[0]):
        means[i] = lib.sumVec(table[i], table.shape[1]) / table.shape[1]


def main():
    print(f"pi is about {lib.pi_approx(1_000_000):.1f}")
    x = np.arange(10.0)
    print("sum:", lib.sumVec(x, len(x)))
    means = np.empty(3)
    row_means(np.arange(12.0).reshape(3, 4), means)
    print("means of rows:", means)


if __name__ == "__main__":
    main()
