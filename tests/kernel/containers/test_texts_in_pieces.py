"""Texts that grow piece by piece: what they hold, and that the pieces are not copied again and again."""

import resource

import unisono as un


def grown(n):
    s = t = u = "x" * 70
    for i in range(n):
        s += "a" + str(i)
        t = t + "b" + s[-2:]
        if i % 3 == 0:
            u = s
            u += "c" + str(i)
            t += u[-5:]
        if i % 7 == 0:
            s, t = t, s
    return s, t, u


def kept(n):
    s = "-" * 64
    texts = [s]
    for i in range(n):
        s += str(i) + ","
        texts.append(s)
        texts.append(texts[i // 2] + str(i))
    return texts


def long_text(n):
    s = ""
    for i in range(n):
        s += "item " + str(i % 10)
    return s


def test_texts_that_share_their_beginning():
    for n in (0, 1, 50, 400):
        assert un.jit(grown)(n) == grown(n)
        assert un.jit(kept)(n) == kept(n)


def test_pieces_are_copied_a_few_times_only():
    compiled = un.jit(long_text)
    compiled(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert compiled(12000) == long_text(12000)
    # Copies of each length together are 1.7 GB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
