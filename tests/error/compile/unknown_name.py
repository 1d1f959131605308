def f(x):
    return x + undefined_name


args = (3,)
