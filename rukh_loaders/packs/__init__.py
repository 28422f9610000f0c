"""Packs opened together and chosen from: many months as one stream of games, with no new encoding. No torch.

months      which folders and months `open_packs` opens
stream      the games of all packs, one after the other, in 64-bit positions
packs       Packs: the stream and which of its games are chosen
chosen      the choice itself: a range of games, or one bit a game
criteria    what `where` is asked, as ranges and sets of column values
choosing    a choice narrowed, chunk by chunk of the mapped columns
splits      train and validation by a keyed hash of the game's id
"""
