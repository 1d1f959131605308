def f(n):
    def order(k):
        if k > 0:
            for x in order(k - 1):
                print(x)
                yield x + 1
        yield k

    s = 0
    for x in order(n):
        s += x
    return s


args = (3,)
