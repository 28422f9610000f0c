"""Rows of ids out of packs: windows, whole games, rows that games fill; and what marks the games in them.

pieces        which parts of which games a row is made of
gather        ids read out of mapped packs, many windows in one go
rows          windows that run on through the stream, and rows of chosen games
best_fit      whole games packed into rows without cutting
documents     position ids, document ids, cu_seqlens, loss masks
collation     windows of a batch that stay one array through torch's DataLoader
dataset       what all datasets over packs share
padding       a game a row, and what padding costs
"""
