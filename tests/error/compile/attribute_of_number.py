def f(x):
    return x.real_part


args = (3,)
