"""Small pictures of how long games are, as SVG written here: no plotting library, the same bytes for the same games."""

import base64
from collections.abc import Mapping, Sequence

import numpy as np

from rukh_assets.errors import PictureError
from rukh_assets.reports.lengths import Lengths, pack_lengths
from rukh_loaders.formats import Pack

_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_POINTS = 92, 16, 24
_PANEL_WIDTH, _PANEL_HEIGHT, _MARGIN = 640, 120, 48
_PANEL_BINS = 80
_SHOWN_PERCENT = 99.5


def lengths_histogram(pack: Pack, most_bins: int = _SPARK_POINTS) -> list[int]:
    """Games in each of at most `most_bins` ranges of length, from 0 to where 99.5 % end; longer ones in the last."""
    return length_counts(pack_lengths(pack), most_bins)


def length_counts(lengths: Lengths, most_bins: int = _SPARK_POINTS) -> list[int]:
    """The same of lengths of anything, 0 or more; `PictureError` for none."""
    return _counts(lengths, most_bins)[0]


def sparkline_svg(values: Sequence[float]) -> str:
    """A line through the values as `data:image/svg+xml;base64,...`, under 400 characters: short enough to show inline.

    One `<path>`, 92 by 16 pixels, from 0 to the largest value; more than 24 values become 24 means of neighbours.

    Raises `PictureError` for no values, a negative one or one that is not finite.
    """
    heights = np.asarray(values, dtype=np.float64)
    if heights.size == 0 or not np.isfinite(heights).all() or heights.min() < 0:
        raise PictureError(f"values {list(values)[:5]}; allowed are one or more finite numbers of at least 0")
    if heights.size > _SPARK_POINTS:
        heights = np.array([part.mean() for part in np.array_split(heights, _SPARK_POINTS)])
    if heights.size == 1:
        heights = np.repeat(heights, 2)
    xs = np.linspace(0, _SPARK_WIDTH, heights.size).round().astype(int)
    ys = (_SPARK_HEIGHT - heights / (heights.max() or 1) * (_SPARK_HEIGHT - 1)).round().astype(int)
    line = "M" + " ".join(f"{x},{y}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SPARK_WIDTH}" height="{_SPARK_HEIGHT}">'
        f'<path d="{line}" fill="none" stroke="#47b"/></svg>'
    )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("ascii")).decode("ascii")


def histograms_svg(lengths: Mapping[str, Lengths]) -> bytes:
    """A page of histograms, one panel a scheme in the order given: games by how many ids they have, frame included.

    Each panel's axis ends where 99.5 % of its games do; longer games stand in its last bar. `PictureError` for a scheme
    without games.
    """
    width = _PANEL_WIDTH + 2 * _MARGIN
    panel = _PANEL_HEIGHT + 2 * _MARGIN
    parts = [_panel(scheme, values, panel * index) for index, (scheme, values) in enumerate(lengths.items())]
    height = panel * len(parts)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13">\n<rect width="100%" height="100%" fill="#fff"/>\n'
    )
    return (head + "".join(parts) + "</svg>\n").encode("ascii")


def _panel(scheme: str, lengths: Lengths, top: int) -> str:
    counts, bin_width = _counts(lengths, _PANEL_BINS)
    base, step, shown = top + _MARGIN + _PANEL_HEIGHT, _PANEL_WIDTH / len(counts), bin_width * len(counts)
    tallest = max(counts)
    bars = "".join(
        f"M{_MARGIN + index * step:.1f},{base}v{-count / tallest * _PANEL_HEIGHT:.1f}h{step * 0.9:.1f}V{base}"
        for index, count in enumerate(counts)
        if count
    )
    title = (
        f"{scheme}: ids a game, {lengths.n_games:,} games; mean {lengths.mean:.1f}, "
        f"median {lengths.percentile(50):.0f}, longest {lengths.longest}"
    )
    ticks = "".join(
        f'<text x="{_MARGIN + _PANEL_WIDTH * quarter / 4:.0f}" y="{base + 18}" text-anchor="middle">'
        f"{shown * quarter / 4:.0f}{'+' if quarter == 4 else ''}</text>\n"
        for quarter in range(5)
    )
    return (
        f'<text x="{_MARGIN}" y="{top + _MARGIN - 12}">{title}</text>\n<path d="{bars}" fill="#47b"/>\n'
        f'<path d="M{_MARGIN},{base}h{_PANEL_WIDTH}" stroke="#333"/>\n{ticks}'
    )


def _counts(lengths: Lengths, most_bins: int) -> tuple[list[int], int]:
    """Games in each bin, and how many lengths a bin is wide: a whole number, so that all bins hold as many lengths."""
    if not lengths.n_games:
        raise PictureError("no games; a histogram needs at least one")
    shown = int(lengths.percentile(_SHOWN_PERCENT)) + 1
    width = -(-shown // most_bins)
    bins = -(-shown // width)
    counts = np.zeros(bins, np.int64)
    np.add.at(counts, np.minimum(lengths.lengths // width, bins - 1), lengths.games)
    return counts.tolist(), width
