"""Every error that this package raises on purpose, one class a reason, under `RukhAssetsError`."""


class RukhAssetsError(Exception):
    """Base of the errors of `rukh_assets`; the text names file, game id and ply, what was got and what is allowed."""


class GameColumnsError(RukhAssetsError):
    """A table of games lacks a column of the games schema, or has it with another type."""


class GameRefusedError(RukhAssetsError):
    """Base of the reasons for which no encoder takes a game; the text names row, game id and ply or character."""


class NullValueError(GameRefusedError):
    """A column of the games schema is null in a row."""


class UnknownResultError(GameRefusedError):
    """A result that is none of `1-0`, `0-1` and `1/2-1/2`."""


class MalformedUciError(GameRefusedError):
    """A `uci` text without moves, with white space other than single spaces, or with a character beyond ASCII."""


class UnknownMoveError(GameRefusedError):
    """A move that the uci table does not hold, so that no id exists for it."""


class IllegalMoveError(GameRefusedError):
    """A move of the uci table that the position does not allow, or castling not spelt as the king's move."""


class UnknownTokenError(GameRefusedError):
    """A game whose text a bpe tokenizer can only write with `<unk>`."""


class UnknownSchemeError(RukhAssetsError, ValueError):
    """A scheme that is none of `uci`, `san` and `bpe`."""


class TokenizerRequiredError(RukhAssetsError, ValueError):
    """The bpe scheme without its trained tokenizer."""


class WorkersError(RukhAssetsError, ValueError):
    """A number of workers that no work can be done with."""


class MonthError(RukhAssetsError, ValueError):
    """The name of a month is not strictly `YYYY-MM`."""


class BatchTooLargeError(RukhAssetsError):
    """A batch of games whose texts together do not fit into one Arrow array of strings."""


class SourceError(RukhAssetsError, ValueError):
    """The source setting cannot be right for any month: a pattern, a folder or an ending that is not supported."""


class SourceMissingError(RukhAssetsError):
    """The setting is right as far as can be seen, but the month has no file yet: not published, worth a retry."""


class DamagedSourceError(RukhAssetsError):
    """A source file is broken, cut off or not the file that was expected."""


class SourceChangedError(DamagedSourceError):
    """A source file was replaced or written to between its hashing and the end of its reading."""


class EmptyMonthError(RukhAssetsError):
    """No game of a month was kept; `rejected` has the count of each reason."""

    def __init__(self, message: str, rejected: dict[str, int]) -> None:
        super().__init__(message)
        self.rejected = rejected


class MovetextError(RukhAssetsError, ValueError):
    """Movetext that does not follow the grammar; `position` is the offset of the first character that does not."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class NotLegalError(RukhAssetsError, ValueError):
    """A move that cannot be played; `ply` counts from 1 for White's first move."""

    def __init__(self, message: str, ply: int) -> None:
        super().__init__(message)
        self.ply = ply


class TimeControlError(RukhAssetsError):
    """A time control of the games file that is neither `base+increment` in range nor `-`."""


class GamesChangedError(RukhAssetsError):
    """A games file other than the one its manifest, or the shards made from it, say it is."""


class ShardsRefusedError(RukhAssetsError):
    """Shards that no pack can be made from: another version's, or counts that do not agree."""


class PictureError(RukhAssetsError):
    """Values that no picture can be drawn of."""


class StatisticsError(RukhAssetsError):
    """Packs that no table of statistics can be made of."""


class CheckFailedError(RukhAssetsError):
    """Counts or hashes of what stands in a lake that have to agree and do not."""


class SampleError(RukhAssetsError, ValueError):
    """Settings of a sample month outside their bounds."""


class ReportMissingError(RukhAssetsError):
    """No month has a report, so no table can be published."""


class FixtureGameError(RukhAssetsError):
    """A game of the fixture's PGN that is not read without any doubt; the text names its number, id and ply."""


class FixtureMismatchError(RukhAssetsError):
    """A fixture that is not what the tokenizers give; the text names game, field and both values."""


class TrainingGamesError(RukhAssetsError):
    """The games that the BPE tokenizer is to be trained on cannot be had."""


class LakeError(RukhAssetsError):
    """A folder that cannot be the lake."""


class SettingError(RukhAssetsError):
    """A setting in the environment that cannot be read."""


class GamesMissingError(RukhAssetsError):
    """A month's games are not there."""


class RecordValueError(RukhAssetsError, ValueError):
    """An id or a position of a record corpus that its key's dtype cannot hold."""


class RowLengthError(RukhAssetsError, ValueError):
    """A sequence that cannot be packed into rows: empty, or longer than a row."""


class EmptyCorpusError(RukhAssetsError):
    """No record of the inputs was kept; the text has the count of each reason and a place."""


class OutputFolderError(RukhAssetsError):
    """An output folder that would be replaced whole and must not be: it holds other things, or the inputs."""


class CorpusNameError(RukhAssetsError, ValueError):
    """A text that cannot be the name of a record corpus."""


class RawRecordsError(RukhAssetsError):
    """A folder of raw records that cannot be read as one."""


class RawRecordsMissingError(RawRecordsError):
    """A month of a record corpus has no raw records."""


class RecordSettingError(RukhAssetsError, ValueError):
    """A setting that no chess records can be made by."""
