"""Small pictures: what they show, how long they are, that they are well-formed."""

import base64
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_assets.errors import PictureError
from rukh_assets.reports.lengths import count_lengths, pack_lengths
from rukh_assets.reports.pictures import histograms_svg, lengths_histogram, sparkline_svg
from rukh_loaders.formats import open_pack

PREFIX = "data:image/svg+xml;base64,"
SVG = "{http://www.w3.org/2000/svg}"


def points_of(uri):
    svg = ET.fromstring(base64.b64decode(uri.removeprefix(PREFIX), validate=True))
    assert [child.tag for child in svg] == [f"{SVG}path"]
    return [tuple(map(int, point)) for point in re.findall(r"(\d+),(\d+)", svg[0].attrib["d"])]


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=500))
def test_a_sparkline_is_one_path_in_under_400_characters(values):
    uri = sparkline_svg(values)
    assert uri.startswith(PREFIX)
    assert len(uri) < 400
    points = points_of(uri)
    assert all(0 <= x <= 92 and 1 <= y <= 16 for x, y in points)
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert (points[0][0], points[-1][0]) == (0, 92)


def test_a_sparkline_rises_with_its_values():
    ys = [y for _, y in points_of(sparkline_svg([0, 1, 2, 4]))]
    assert ys == [16, 12, 8, 1]


def test_a_sparkline_of_zeros_lies_on_the_ground():
    assert {y for _, y in points_of(sparkline_svg([0, 0, 0]))} == {16}


@pytest.mark.parametrize("values", [[], [1, -1], [float("nan")], [float("inf")]])
def test_values_that_have_no_height_are_refused(values):
    with pytest.raises(PictureError, match="allowed are one or more finite numbers of at least 0"):
        sparkline_svg(values)


def test_a_histogram_counts_every_game_once(packs):
    counts = lengths_histogram(open_pack(packs["san"]), most_bins=12)
    assert len(counts) <= 12
    assert sum(counts) == 40
    assert len(sparkline_svg(lengths_histogram(open_pack(packs["san"])))) < 400


def test_a_page_of_histograms_names_each_scheme_and_is_the_same_each_time(packs):
    lengths = {scheme: pack_lengths(open_pack(path)) for scheme, path in packs.items()}
    page = histograms_svg(lengths)
    assert page == histograms_svg(lengths)
    titles = [text.text for text in ET.fromstring(page).iter(f"{SVG}text") if ":" in text.text]
    assert [title.split(":")[0] for title in titles] == ["uci", "san", "bpe"]
    assert all("40 games" in title for title in titles)


def test_one_length_alone_and_a_very_long_game_can_be_drawn():
    ET.fromstring(
        histograms_svg({"uci": count_lengths(np.array([7])), "san": count_lengths(np.array([7] * 999 + [100_000]))})
    )


def test_evenly_spread_lengths_give_even_bars():
    """Bins whose width is no whole number would hold two lengths here and three there, and show teeth."""
    page = histograms_svg({"uci": count_lengths(np.repeat(np.arange(200), 5))}).decode()
    heights = set(re.findall(r"v-([0-9.]+)h", page))
    assert len(heights) <= 2  # the last bar may differ


def test_no_games_cannot_be_drawn():
    with pytest.raises(PictureError, match="no games; a histogram needs at least one"):
        histograms_svg({"uci": count_lengths(np.array([], dtype=np.int64))})
