def f(d):
    match d:
        case {"a": k}:
            return k
    return 0


args = ({"a": 3},)
