import unisono as un


@un.jitclass
class Account:
    balance: float

    def __init__(self):
        self.balance = 0.0


account = Account()


def f(a):
    a.total = 1.0


args = (account,)
