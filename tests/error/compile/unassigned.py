def f(n):
    total = total + n
    return total


args = (1,)
