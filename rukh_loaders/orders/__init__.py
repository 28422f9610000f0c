"""Which item comes at which position of an epoch: pure functions of (seed, epoch, position). No torch.

permutation   keyed permutations that are computed item by item
order         the orders made of them
schedule      positions dealt to weighted parts, each prefix exact to within one sample
mixture       packs mixed by weight, and the order of a mixture
"""
