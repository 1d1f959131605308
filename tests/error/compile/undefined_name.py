def f(n):
    for i in xrange(n):
        pass


args = (1,)
