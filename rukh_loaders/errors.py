"""Every error that this package raises on purpose, one class a reason, under `RukhLoadersError`."""


class RukhLoadersError(Exception):
    """Base of the errors of `rukh_loaders`; its text names the file, what was got and what is allowed."""


class PublishError(RukhLoadersError):
    """A folder or file cannot be published at the asked place."""


class FormatError(RukhLoadersError, ValueError):
    """Base of the errors about files: what lies on disk, or was to be written, is not what docs/formats.md says."""


class ManifestError(FormatError):
    """A manifest.json that cannot be read, or that names other files than those beside it."""


class NpyError(FormatError):
    """A .npy file that is not the one-dimensional array it should be."""


class ShardError(FormatError):
    """A shard that cannot be written as asked, or cannot be read as what its meta.json promises."""


class CorpusError(FormatError):
    """A corpus of records whose shards are not what its manifest.json says of their keys and records."""


class PackError(FormatError):
    """A pack that cannot be written as asked, or that is not what its meta.json or manifest.json promises."""


class VocabularyTooLargeError(PackError):
    """More than 65,536 ids: they would not fit the uint16 of tokens.npy."""


class VocabularyMismatchError(PackError):
    """The pack was encoded with another vocabulary than the one asked for."""


class TokenizerError(RukhLoadersError, ValueError):
    """Base of the errors about ids and text."""


class RatingError(TokenizerError):
    """A rating that is not an integer, such as None, "?" or 1500.5."""


class UnknownResultError(TokenizerError):
    """A result other than 1-0, 0-1 and 1/2-1/2."""


class UnknownCharacterError(TokenizerError):
    """A character that the vocabulary does not hold."""


class SpecialTokenError(TokenizerError):
    """The text of a special token among the moves of a game."""


class SanMoveError(TokenizerError):
    """Movetext with a word that is no move in SAN, or that no piece, or more than one, could make."""


class UnknownIdError(TokenizerError):
    """An id outside the vocabulary."""


class VocabularyFileError(TokenizerError):
    """A vocabulary file that cannot be read, or that lists other tokens than the tokenizer has."""


class BpeTrainingError(TokenizerError):
    """A bpe tokenizer cannot be trained: no games, or too few entries."""


class BpeSettingsError(TokenizerError):
    """A bpe tokenizer with other settings or special tokens than docs/formats.md asks for."""


class BlockSizeError(RukhLoadersError, ValueError):
    """A window of fewer than 2 tokens."""


class WindowIndexError(RukhLoadersError, IndexError):
    """An index outside `0..len-1` of a dataset."""


class WindowsError(RukhLoadersError, ValueError):
    """Windows of a kind that there is none of, or that scattered games or a mixture cannot give."""


class LossMaskError(RukhLoadersError, ValueError):
    """Targets to train on that are none, or that cannot be told in the packs' scheme."""


class PackReplacedError(RukhLoadersError):
    """Packs, or a dataset over them, that are unpickled where other packs lie by now."""


class NoPacksError(PackError):
    """A folder, or a list, in which there is no pack to open."""


class MonthsError(RukhLoadersError, ValueError):
    """Months that are none, or of which there is no pack."""


class NoColumnError(RukhLoadersError, LookupError):
    """A column that is none, or that a pack of another program does not have."""


class GameIndexError(RukhLoadersError, IndexError):
    """A number of a game outside those that were chosen."""


class ChoiceError(RukhLoadersError, ValueError):
    """Games are to be chosen by something that no game can have, or by an answer that is not one for each game."""


class SplitError(RukhLoadersError, ValueError):
    """Shares that are not fractions of a whole."""


class LoaderArgumentError(RukhLoadersError, ValueError):
    """A batch size, a rank or another argument that no loader can have."""


class NoBatchError(RukhLoadersError, ValueError):
    """A loader that could never serve a batch."""


class RecordError(RukhLoadersError, ValueError):
    """Base of the errors about record corpora: configs, tokenizer folders, chat templates and input files."""


class RecordConfigError(RecordError):
    """A config of a record corpus with unknown keys or values; the text names each key by its path."""


class RecordTokenizerError(RecordError):
    """A tokenizer folder that cannot be read, or that lacks what the config needs of it."""


class ChatTemplateError(RecordError):
    """A chat template that is missing or is not Jinja; the text has the template's line."""


class UnsafeTemplateError(ChatTemplateError):
    """A chat template that tries to reach what the sandbox keeps from it."""


class ConversationError(ChatTemplateError):
    """A conversation that the chat template refuses, or that it cannot be cut into turns for."""


class RecordFileError(RecordError):
    """An input path of a record corpus that is missing, cannot be read, or holds no file that is read."""


class RecordRefusedError(RecordError):
    """A bad line or record where the config is strict: it ends the run."""


class NoRecordsError(RecordError, FileNotFoundError):
    """A path at which there are neither shards nor .jsonl files, or of whose records none can be served."""


class UnsupportedFileError(RecordError):
    """A file that is no .jsonl file, where one is expected."""


class StoreArgumentError(RecordError):
    """A window, a stride, a weight or another argument that no store or dataset of records can have."""


class StoreShardsError(RecordError):
    """Shards that cannot be served together: of other keys, or keys of another length than what they go along."""


class StoreChangedError(RecordError):
    """A file, or a folder, that is not what it was when the store was opened."""


class RangeError(RecordError):
    """A range of tokens that is not within those of a store, or that ends before it begins."""


class RecordIndexError(RecordError, IndexError):
    """A record, or a window, outside those that there are."""


class NoWindowsError(RecordError, RuntimeError):
    """A window is asked of a store without a window size."""


class NoKeyError(RukhLoadersError, KeyError):
    """A key that a store does not have, or does not have as what is asked for."""

    __str__ = Exception.__str__  # that of KeyError is the repr of the text


class TrainTypeError(RecordError):
    """A type of training that there is no dataset for."""


class StateFormatError(RukhLoadersError, ValueError):
    """What is to be loaded is no state of a loader, or that of another version."""


class StateMismatchError(RukhLoadersError, ValueError):
    """The state of a loader over other data, or of another seed or order."""


class IterationClosedError(RukhLoadersError, RuntimeError):
    """A batch is asked of an iteration that was ended before its last batch."""


class OrderArgumentError(RukhLoadersError, ValueError):
    """A count, an epoch or a size of blocks that no order can have."""


class PositionError(RukhLoadersError, IndexError):
    """Positions outside `0..len` of an order."""


class WeightError(RukhLoadersError, ValueError):
    """A weight with which a part of a mixture cannot be served."""


class EmptyPartError(RukhLoadersError, ValueError):
    """A mixture without parts, or with a part that has nothing to serve."""


class UsageError(RukhLoadersError, ValueError):
    """Base of what a command line cannot ask for."""


class OnePackError(UsageError):
    """A folder of several packs where one pack is asked for."""


class NoSuchGameError(UsageError):
    """A game outside those of the pack."""


class NoSuchPlyError(UsageError):
    """A ply outside those of the game."""


class NeedlessTokenizerError(UsageError):
    """A bpe tokenizer given for a pack of another scheme."""


class UnreadableIdsError(UsageError):
    """Ids that cannot be turned into moves: of another vocabulary, or of `bpe` without its tokenizer."""


class BenchmarkError(UsageError):
    """A pack that is too small to be measured, or settings with which nothing is."""
