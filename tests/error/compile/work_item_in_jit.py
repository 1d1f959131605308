import unisono as un


def f(n):
    return un.global_id(0) + n


args = (4,)
