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


class PackReplacedError(RukhLoadersError):
    """A dataset that was pickled over one pack and unpickled where another lies."""


class LoaderArgumentError(RukhLoadersError, ValueError):
    """A batch size or a number of workers that no loader can have."""


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
