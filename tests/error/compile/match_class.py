def f(n):
    match n:
        case int(k):
            return k
    return 0


args = (3,)
