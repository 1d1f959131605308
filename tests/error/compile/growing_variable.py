def f(n):
    stack = None
    for i in range(n):
        stack = (i, stack)
    return stack


args = (3,)
