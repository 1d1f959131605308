def f(items):
    return {0: items}


args = ([1],)
