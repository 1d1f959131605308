def f(n):
    try:
        return n // n
    except ZeroDivisionError as e:
        return e


args = (1,)
