import csv
import gzip

import numpy as np
import pytest

from evenhand.errors import EstimationError, InvalidInputError, UnknownRuleError
from evenhand.statistics.contests import Contests
from evenhand.statistics.paired_comparisons import fit_bradley_terry
from evenhand.statistics.ratings import rate
from tests.support.shared import shared_path


@pytest.fixture(scope="module")
def golden():
    with shared_path("data/llmfao_golden_rankings.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    published = {}
    for row in rows:
        published.setdefault(row["algorithm"], {})[row["item"]] = float(row["score"])
    return published


@pytest.fixture(scope="module")
def crowd():
    path = shared_path("data/llmfao_crowd_comparisons_in_order.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    systems = sorted({row["left"] for row in rows} | {row["right"] for row in rows})
    place = {system: position for position, system in enumerate(systems)}
    return Contests.of(
        systems,
        first=[place[row["left"]] for row in rows],
        second=[place[row["right"]] for row in rows],
        score=[{"left": 1.0, "tie": 0.5, "right": 0.0}[row["winner"]] for row in rows],
        cluster=[int(row["prompt"]) for row in rows],
    )


@pytest.mark.parametrize(
    "rating_system", ["average_win_rate", "bradley_terry", "counting", "eigen", "elo", "newman", "pagerank"]
)
def test_published_ratings_of_59_systems(golden, crowd, rating_system):
    assert (len(crowd), len(crowd.systems)) == (8931, 59)
    ours = rate(crowd, rating_system)
    published = [golden[rating_system][system] for system in crowd.systems]
    np.testing.assert_allclose(ours.ratings, published, atol=1e-9, rtol=0)


def test_our_maximum_of_the_likelihood_is_the_published_bradley_terry(golden, crowd):
    shares = [strength.share.estimate for strength in fit_bradley_terry(crowd).strengths]
    np.testing.assert_allclose(shares, [golden["bradley_terry"][system] for system in crowd.systems], atol=1e-6)


def test_elo_takes_the_contests_in_order():
    # a wins: 1000 ± 2. Then b, 4 points behind, is expected to score 1 / (1 + 10^(4/400)) = 0.494244 and wins:
    # 998 + 4 · 0.505756 = 1000.023025.
    contests = Contests.of("ab", first=[0, 1], second=[1, 0], score=[1, 1])
    np.testing.assert_allclose(rate(contests, "elo").ratings, [999.976975, 1000.023025], atol=1e-6)


def test_unscored_contests_are_left_out():
    contests = Contests.of("ab", first=[0, 1, 0], second=[1, 0, 1], score=[1, np.nan, 0.5])
    ratings = rate(contests, "counting")
    assert ratings.ratings == (1.5, 0.5)
    assert (ratings.contests, ratings.unscored) == (2, 1)


@pytest.mark.parametrize("rating_system", ["bradley_terry", "newman"])
def test_a_sweep_has_no_rating_instead_of_a_number(rating_system):
    contests = Contests.of("abc", first=[0, 0, 1, 2], second=[1, 2, 2, 1], score=[1, 1, 1, 1])
    with pytest.raises(EstimationError, match="'a': won every contest: no finite strength"):
        rate(contests, rating_system)


def test_what_cannot_be_rated():
    with pytest.raises(EstimationError, match="'c' has no scored contest"):
        rate(Contests.of("abc", first=[0], second=[1], score=[1]), "elo")
    with pytest.raises(InvalidInputError, match=r"0\.25: elo knows 0, 0\.5 and 1 only"):
        rate(Contests.of("ab", first=[0], second=[1], score=[0.25]), "elo")
    with pytest.raises(UnknownRuleError, match="Did you mean 'elo'"):
        rate(Contests.of("ab", first=[0], second=[1], score=[1]), "ello")
