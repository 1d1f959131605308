def f(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        return 0


args = (1,)
