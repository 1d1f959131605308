def f(a, n):
    try:
        x = [a[n]]
    except IndexError:
        print("no item", x)
    return n


args = ((1.0, 2.0), 1)
