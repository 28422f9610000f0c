"""Records to ids and masks. There is one way: a batch of them is read, encoded together, and put together again."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from rukh_loaders.errors import RecordTokenizerError
from rukh_loaders.records.config import PipelineConfig
from rukh_loaders.records.inputs import Output, OutputKind
from rukh_loaders.records.outcomes import DEFAULT_DOMAIN, Built, Column, Refusal, Skipped, SkipReason, safe_domain
from rukh_loaders.records.pairs import as_conversations
from rukh_loaders.records.passages import Passage, PassageReader, Piece, Planned, TalkPiece, TextPiece
from rukh_loaders.records.tokenizer_folder import RecordTokenizer
from rukh_loaders.records.turns import Span

Ids = list[int]
Encoded = dict[Piece, tuple[Ids, Ids] | str]
"""Ids and mask of each piece, or why the tokenizer could not encode it."""


def build_record(record: object, config: PipelineConfig, tokenizer: RecordTokenizer) -> Built | Skipped:
    """One record; the same as a batch of one, see `MaskBuilder.build`."""
    return build_records([record], config, tokenizer)[0]


def build_records(
    records: Sequence[object], config: PipelineConfig, tokenizer: RecordTokenizer
) -> list[Built | Skipped]:
    """A batch of records, see `MaskBuilder.build`."""
    return MaskBuilder(config, tokenizer).build(records)


class MaskBuilder:
    """Builds records as a config says, with a tokenizer that was asked for what the config needs of it.

    `RecordConfigError` for a config without input, `ChatTemplateError` for sections with a template and a tokenizer
    without one, `RecordTokenizerError` for `append_eos` and a tokenizer that names no eos token.
    """

    def __init__(self, config: PipelineConfig, tokenizer: RecordTokenizer) -> None:
        self.config = config
        self.tokenizer = tokenizer
        self.outputs = config.outputs()
        needs_chat = any(section.template for output in self.outputs for section in output.sections)
        self._reader = PassageReader(config, tokenizer.required_chat() if needs_chat else None)
        if config.preprocessing.append_eos and tokenizer.eos_id is None:
            raise RecordTokenizerError(f"{tokenizer.path}: names no eos_token, which preprocessing.append_eos needs")

    def build(self, records: Sequence[object]) -> list[Built | Skipped]:
        """Each record's outcome, in order, and the same whatever the batch: a bad one spoils none of the others.

        An outcome is `Skipped` for a record that is no object, whose fields are missing or of the wrong type, that the
        template refuses or of which no ids are left. `UnsafeTemplateError` for a template that attacks the sandbox.
        """
        plans = [self._plan(record) for record in records]
        encoded = encode_pieces(self.tokenizer, _pieces(plans))
        return [
            plan if isinstance(plan, Skipped) else self._finish(record, plan, encoded)
            for record, plan in zip(records, plans, strict=True)
        ]

    def _plan(self, record: object) -> list[Planned] | Skipped:
        if not isinstance(record, dict):
            return Skipped(SkipReason.NOT_AN_OBJECT, f"got {type(record).__name__}, allowed: an object")
        try:
            if self.config.preprocessing.record_form == "pair":
                record = record | as_conversations(record)
            plan = self._reader.read(record, self.outputs)
        except Refusal as refusal:
            return refusal.skipped
        n_chars = sum(len(piece.text) for piece in _pieces_of(plan))
        limit = max(self.config.preprocessing.max_record_chars, self.config.preprocessing.max_chars)
        if n_chars > limit:
            return Skipped(SkipReason.LENGTH, f"{n_chars} characters in all, allowed: {limit}, see max_record_chars")
        return plan

    def _finish(self, record: Any, plan: list[Planned], encoded: Encoded) -> Built | Skipped:
        try:
            parts = [self._part(output, planned, encoded) for output, planned in zip(self.outputs, plan, strict=True)]
        except Refusal as refusal:
            return refusal.skipped
        return Built(
            keys={name: column for part in parts for name, column in part.columns.items()},
            domain=self._domain(record),
            n_tokens=_count_tokens(parts),
            untrained=tuple(
                part.output.name for part in parts if not part.is_trained and self.config.can_train(part.output)
            ),
            truncated=sum(part.truncated for part in parts),
        )

    def _part(self, output: Output, planned: Planned, encoded: Encoded) -> "_Part":
        if isinstance(planned, list):
            return _Part(output, {output.name: planned}, 0, False, 0)
        passages = (planned,) if isinstance(planned, Passage) else planned
        sequences = [self._sequence(passage, encoded) for passage in passages]
        cut = [(self._cut(ids), self._cut(mask)) for ids, mask in sequences]
        n_tokens = sum(len(ids) for ids, _ in cut)
        if n_tokens == 0 or (isinstance(planned, Passage) and planned.with_bos and n_tokens <= 1):
            raise Refusal(SkipReason.EMPTY, f"{output.name}: no ids but a bos")
        return _Part(
            output,
            _columns(output, cut),
            n_tokens,
            any(1 in mask for _, mask in cut),
            sum(len(ids) < len(whole) for (ids, _), (whole, _) in zip(cut, sequences, strict=True)),
        )

    def _sequence(self, passage: Passage, encoded: Encoded) -> tuple[Ids, Ids]:
        """Ids and mask of a passage, whole: bos before it and eos behind it where they belong."""
        ids: Ids = []
        mask: Ids = []
        for piece in passage.pieces:
            found = encoded[piece]
            if isinstance(found, str):
                raise Refusal(SkipReason.BAD_TEXT, found)
            ids += found[0]
            mask += found[1]
        bos, eos = self.tokenizer.bos_id, self.tokenizer.eos_id
        if passage.with_bos and bos is not None:
            begins_with_bos = ids[:1] == [bos]  # some templates write it themselves
            ids, mask = (ids, [0, *mask[1:]]) if begins_with_bos else ([bos, *ids], [0, *mask])
        if self.config.preprocessing.append_eos and eos is not None and mask and mask[-1] and ids[-1] != eos:
            ids.append(eos)
            mask.append(1)
        return ids, mask

    def _cut(self, tokens: Ids) -> Ids:
        limits = self.config.preprocessing
        if limits.truncation_mode == "keep_start":
            return tokens[: limits.max_seq_len]
        return tokens[-limits.max_seq_len :]

    def _domain(self, record: Any) -> str:
        key = self.config.output.domain_key
        domain = None if key is None else record.get(key)
        return safe_domain(domain) if isinstance(domain, str) else DEFAULT_DOMAIN


@dataclass(frozen=True)
class _Part:
    """One output of one record."""

    output: Output
    columns: dict[str, Column]
    n_tokens: int
    is_trained: bool
    truncated: int


def encode_pieces(tokenizer: RecordTokenizer, pieces: Sequence[Piece]) -> Encoded:
    """Ids and mask of each piece, those of a kind encoded together; those that the tokenizer refuses, alone."""
    encoded: Encoded = {}
    for with_special_tokens in (False, True):
        texts = [p for p in pieces if isinstance(p, TextPiece) and p.add_special_tokens is with_special_tokens]
        encoded |= _encode_texts(tokenizer, texts, with_special_tokens)
    return encoded | _encode_talks(tokenizer, [piece for piece in pieces if isinstance(piece, TalkPiece)])


def _encode_texts(tokenizer: RecordTokenizer, pieces: list[TextPiece], with_special_tokens: bool) -> Encoded:
    try:
        many = tokenizer.encode_batch([piece.text for piece in pieces], add_special_tokens=with_special_tokens)
    except Exception as error:  # the library raises a bare Exception for a text that it cannot encode
        return _encode_halves(tokenizer, pieces, error)
    return {piece: (ids, [int(piece.trained)] * len(ids)) for piece, ids in zip(pieces, many, strict=True)}


def _encode_talks(tokenizer: RecordTokenizer, pieces: list[TalkPiece]) -> Encoded:
    try:
        many = tokenizer.encode_with_offsets([piece.text for piece in pieces])
    except Exception as error:  # as above
        return _encode_halves(tokenizer, pieces, error)
    return {
        piece: (encoding.ids, mask_of_spans(encoding.offsets, piece.spans))
        for piece, encoding in zip(pieces, many, strict=True)
    }


def _encode_halves(tokenizer: RecordTokenizer, pieces: Sequence[Piece], error: Exception) -> Encoded:
    """One text of these cannot be encoded: both halves alone, down to the text that is to blame."""
    if len(pieces) == 1:
        return {pieces[0]: f"the tokenizer cannot encode it: {error}"}
    middle = len(pieces) // 2
    return encode_pieces(tokenizer, pieces[:middle]) | encode_pieces(tokenizer, pieces[middle:])


def mask_of_spans(offsets: Sequence[Span], spans: Sequence[Span]) -> list[int]:
    """1 for each token that lies wholly in one of the spans, 0 for all others, those across an edge too.

    Offsets are the tokens' first and last characters (left out) in the order of the text, so begins and ends rise.
    """
    mask = [0] * len(offsets)
    for begin, end in spans:
        first = bisect_left(offsets, begin, key=itemgetter(0))
        last = bisect_right(offsets, end, lo=first, key=itemgetter(1))
        mask[first:last] = [1] * (last - first)
    return mask


def _pieces(plans: Sequence[list[Planned] | Skipped]) -> list[Piece]:
    """Every different piece of the records that are not skipped, in their order."""
    return list(dict.fromkeys(piece for plan in plans if not isinstance(plan, Skipped) for piece in _pieces_of(plan)))


def _pieces_of(plan: list[Planned]) -> Iterator[Piece]:
    for planned in plan:
        if not isinstance(planned, list):
            for passage in (planned,) if isinstance(planned, Passage) else planned:
                yield from passage.pieces


def _columns(output: Output, sequences: list[tuple[Ids, Ids]]) -> dict[str, Column]:
    assert output.mask_name is not None  # only values have none
    if output.kind is OutputKind.SEQUENCE:
        [(ids, mask)] = sequences
        return {output.name: ids, output.mask_name: mask}
    return {output.name: [ids for ids, _ in sequences], output.mask_name: [mask for _, mask in sequences]}


def _count_tokens(parts: Sequence[_Part]) -> int:
    """Ids of the first sequence, or where there is none, of the first group; 0 where there are values only."""
    sequences = [part.n_tokens for part in parts if part.output.kind is OutputKind.SEQUENCE]
    groups = [part.n_tokens for part in parts if part.output.kind is OutputKind.GROUP]
    return next(iter([*sequences, *groups]), 0)
