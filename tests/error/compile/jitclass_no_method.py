import unisono as un


@un.jitclass
class Account:
    balance: float

    def __init__(self):
        self.balance = 0.0


account = Account()


def f(a):
    return a.interest(0.5)


args = (account,)
