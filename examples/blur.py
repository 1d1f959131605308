"""A stencil with borders, and a function of rows over a whole image.

Run: python examples/blur.py
"""

import numpy as np
import unisono as un


@un.stencil("edge")
def blur(a):
    return (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1] + 4 * a[0, 0]) / 8


@un.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def scale_row(row, top, result):
    largest = row[0]
    for v in row:
        largest = max(largest, v)
    for i in range(row.shape[0]):
        result[i] = row[i] / largest * top


@un.jit
def smooth(image, times):
    for _ in range(times):
        image = blur(image)
    return image


def main():
    image = np.zeros((5, 5))
    image[2, 2] = 64.0
    print(smooth(image, 2))
    print(scale_row(smooth(image, 2), 1.0)[2])


if __name__ == "__main__":
    main()
