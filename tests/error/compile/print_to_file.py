def f(n):
    print(n, file=n)


args = (1,)
