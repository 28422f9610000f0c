"""Making games: the sample source against moves chosen blindly by python-chess."""

from benchmarks import baselines
from benchmarks.corpora import MONTH
from benchmarks.measure import Variant, Work, interleave
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from rukh_assets.ingest.sample import sample_batches

_PLAIN_GAMES = 40
_GAMES_A_MINUTE = 200_000


def sample(plan: Plan) -> list[Result]:
    """Sample games that the default filters keep; the others that come with them are not counted."""
    games = max(1, plan.games // 100)
    timings = interleave(
        [
            Variant("python-chess, blind moves", lambda: Work(len(baselines.random_movetexts(_PLAIN_GAMES)))),
            Variant("rukh", lambda: _sample(games)),
        ],
        plan.rounds,
    )
    a_minute = timings["rukh"].games_per_s * 60
    return [
        *plan.compare("sample", timings, {}),
        plan.figure("sample", "games a minute", a_minute, "", Floor(least=_GAMES_A_MINUTE)),
    ]


def _sample(games: int) -> Work:
    for _ in sample_batches(MONTH, games, seed=0):
        pass
    return Work(games)
