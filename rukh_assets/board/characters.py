"""The characters that kernels look for, by their numbers in ASCII."""

SPACE, HASH, PLUS, DASH, DOT, STAR, EQUALS = (ord(character) for character in " #+-.*=")
ZERO, ONE, NINE = (ord(character) for character in "019")
LOWER_A, LOWER_X, CAPITAL_O = (ord(character) for character in "axO")
OPENING_BRACE, CLOSING_BRACE, CLOSING_BRACKET = (ord(character) for character in "{}]")
N, B, R, Q, K = (ord(character) for character in "NBRQK")
TO_CAPITAL = ~32
"""Mask that makes a lower-case letter a capital one, and no other character a letter."""
