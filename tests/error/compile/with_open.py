def f(n):
    with open(n) as g:
        return 1


args = (3,)
