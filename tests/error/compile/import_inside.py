def f(n):
    import a_module_that_nobody_has

    return n + a_module_that_nobody_has.n


args = (3,)
