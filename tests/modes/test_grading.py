"""From votes in all rotations to the Grade Score: by hand, and beside the statistics on arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInputError
from evenhand.modes.grade_scores import GradeMode, grade, unrelated_effect
from evenhand.numbers import Missing
from evenhand.options import GradeScoresArguments, RunOptions
from evenhand.votes import Vote
from tests.statistics.grade_score_of_arrays import grade_score
from tests.statistics.unrelated_option import unrelated_option


def votes_of(row, *, judge="j", sample=0, reason="refusal"):
    """The votes on one instance: the candidate chosen in each rotation, None for a refusal."""
    size = len(row)
    return [
        Vote(
            judge_id=judge,
            order=tuple((turn + place) % size for place in range(size)),
            sample=sample,
            selected_index=chosen,
            unscored_reason=None if chosen is not None else reason,
        )
        for turn, chosen in enumerate(row)
    ]


def graded(rows, **more):
    return grade([votes_of(row) for row in rows], "j", **more)


def as_rows(rows):
    return [np.array([-1 if chosen is None else chosen for chosen in row]) for row in rows]


class TestGrade:
    def test_places_and_candidates_of_each_instance(self):
        # In rotation r candidate c stands at the place c - r (mod 3): 0 at 0, 0 at 2, 1 at 2.
        one = graded([[0, 0, 1]]).instances[0]
        assert (one.places, one.chosen) == ((1, 0, 2), (2, 1, 0))
        assert (one.asked, one.answered, one.n_options) == (3, 3, 3)
        # H = log 3 - 2/3 log 2 = 0.6365; L = H / log 3 = 0.5794; C = 2/3; G = 2 L C / (L + C) = 0.6200.
        assert one.llm_score == pytest.approx(0.5794, abs=5e-5)
        assert one.choice_score == pytest.approx(2 / 3)
        assert one.grade_score == pytest.approx(0.6200, abs=5e-5)

    def test_refusals_are_an_outcome_of_their_own(self):
        result = graded([[1, None, 1], [0, 1, 2]])
        assert [one.grade_score for one in result.instances] == [1.0, 0.0]
        assert result.answered.estimate == pytest.approx(5 / 6)
        assert {reason: share.estimate for reason, share in result.unanswered.items()} == {
            "refusal": pytest.approx(1 / 6)
        }
        assert result.grade_score.estimate == pytest.approx(0.5)
        assert result.parse_rate.estimate == pytest.approx(5 / 6)

    def test_one_answer_is_no_score(self):
        result = graded([[1, None, None], [None, None]])
        assert [one.unscored_reason for one in result.instances] == ["refusal", "refusal"]
        for missing in (result.grade_score, result.chance_corrected, result.llm_score, result.chance):
            assert missing == Missing("no instance has two rotations answered")
        assert result.num_scored == 0
        assert result.answered.estimate == pytest.approx(1 / 5)
        assert result.histograms[0].places == Missing("no option was chosen")
        assert result.histograms[1].places.counts == (0, 1, 0)

    def test_what_the_budget_left_out_was_not_asked(self):
        result = grade([votes_of([1, 1, None], reason="budget")], "j")
        assert result.answered.estimate == 1.0
        assert result.unanswered == {}
        assert (result.instances[0].asked, result.instances[0].answered) == (2, 2)

    def test_nothing_asked_at_all(self):
        result = grade([[], []], "j")
        assert result.num_missing_response == 2
        assert result.answered == Missing("nothing was asked")
        assert not result.grade_score
        assert result.histograms == ()
        effect = unrelated_effect(result, result)
        assert effect.chosen == Missing("no option was chosen")
        assert effect.difference == Missing("no instance is scored in both runs")

    def test_draws_are_sets_of_rotations_of_their_own_and_averaged_in_their_instance(self):
        # Draw 0 always candidate 2 (G = 1), draw 1 always the first place (G = 0): 1/2. Pooled they would be neither.
        twice = votes_of([2, 2, 2]) + votes_of([0, 1, 2], sample=1)
        result = grade([twice, votes_of([1, 1, 1]) + votes_of([1, 1, 1], sample=1)], "j")
        assert [one.grade_score for one in result.instances] == [0.5, 1.0]
        assert result.grade_score.estimate == 0.75
        assert result.grade_score.n == 2
        assert result.instances[0].asked == 6
        # The histogram adds up the draws: places 1+3, 1, 1 of the one, 2, 2, 2 of the other.
        assert result.histograms[0].places.counts == (6, 3, 3)
        assert result.histograms[0].places.n_instances == 2

    def test_each_judge_by_itself(self):
        both = votes_of([0, 0, 0], judge="mind") + votes_of([0, 1, 2], judge="place")
        assert grade([both], "mind").grade_score.estimate == 1.0
        assert grade([both], "place").grade_score.estimate == 0.0

    @settings(deadline=None, max_examples=15)
    @given(st.integers(0, 10_000))
    def test_one_draw_equals_the_statistics_on_arrays(self, seed):
        random = np.random.default_rng(seed)
        sizes = random.integers(2, 6, size=12)
        rows = [[None if random.random() < 0.2 else int(random.integers(size)) for _ in range(size)] for size in sizes]
        rows.append([0, 0])
        ours, theirs = graded(rows, level=0.9), grade_score(as_rows(rows), level=0.9)
        assert [one.grade_score for one in ours.instances] == pytest.approx(theirs.scores)
        assert [one.chance_corrected for one in ours.instances] == pytest.approx(theirs.corrected_scores)
        for name, other in (
            ("grade_score", theirs.grade_score),
            ("chance_corrected", theirs.chance_corrected),
            ("llm_score", theirs.position_entropy),
            ("choice_score", theirs.mode_frequency),
            ("answered", theirs.answered),
        ):
            mine = getattr(ours, name)
            assert (mine.estimate, mine.low, mine.high) == pytest.approx((other.estimate, other.low, other.high))
        assert ours.num_instances - ours.num_scored == theirs.n_set_aside
        for mine, other in zip(ours.histograms, theirs.sizes, strict=True):
            assert (mine.places, mine.candidates) == (other.places, other.options)


class TestUnrelatedEffect:
    def test_by_hand(self):
        # The unrelated candidate is the last one. Instance 0 takes it once where it stands first, 1 never.
        more, fewer = graded([[0, 0, 2], [1, 1, 1]]), graded([[0, 0], [1, 1]])
        effect = unrelated_effect(more, fewer)
        assert effect.chosen.estimate == pytest.approx(1 / 6)
        assert effect.ever_chosen.estimate == pytest.approx(1 / 2)
        # 0 at 0, 0 at 2, 2 at 0: the same counts as above, G = 0.6200; without it 1. The other instance has 1 twice.
        assert effect.difference.estimate == pytest.approx((0.6200 - 1 + 1 - 1) / 2, abs=5e-5)
        assert effect.num_paired == 2

    def test_only_instances_scored_in_both_are_paired(self):
        effect = unrelated_effect(graded([[0, 0, 0], [1, None, None]]), graded([[0, 0], [1, 1]]))
        assert effect.num_paired == 1
        assert effect.difference.estimate == 0.0
        assert effect.ever_chosen.n == 2

    @settings(deadline=None, max_examples=9)
    @given(st.integers(0, 10_000))
    def test_one_draw_equals_the_statistics_on_arrays(self, seed):
        random = np.random.default_rng(seed)

        def rows(size):
            chosen = random.integers(size, size=(6, size)).tolist()
            return [[None if random.random() < 0.1 else option for option in row] for row in chosen]

        more, fewer = [*rows(4), [0] * 4], [*rows(3), [0] * 3]
        ours = unrelated_effect(graded(more), graded(fewer))
        theirs = unrelated_option(as_rows(more), as_rows(fewer), [3] * 7)
        assert ours.num_paired == theirs.n_paired
        for name in ("chosen", "ever_chosen", "difference", "corrected_difference"):
            mine, other = getattr(ours, name), getattr(theirs, name)
            assert (mine.estimate, mine.low, mine.high) == pytest.approx((other.estimate, other.low, other.high))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"orders": "both"}, "all rotations"),
        ({"orders": "cyclic", "stop_early": True}, "stop_early"),
        ({"orders": "cyclic", "judge_weights": [1.0]}, "that of one judge"),
    ],
)
def test_settings_that_are_not_those_of_a_grade_score(options, said):
    with pytest.raises(InvalidInputError, match=said):
        GradeMode(RunOptions(**options))


def test_rules_that_nothing_follows():
    assert GradeMode(RunOptions(orders="cyclic", flow="one_step")).prompt == "evaluate_first"
    with pytest.raises(InvalidInputError, match="that of one judge"):
        GradeMode(RunOptions(orders="cyclic", aggregation="mode"))
    with pytest.raises(InvalidInputError, match="unrelated_option is 'yes'"):
        GradeScoresArguments(unrelated_option="yes")


@pytest.mark.slow
def test_intervals_over_instances_hold_their_level_with_repeated_draws():
    """Draws of one instance hang together, so that an interval over draws would be too short."""
    random = np.random.default_rng(3)

    def instance():
        liking = 5 * random.random()
        votes = []
        for sample in range(2):
            row = []
            for turn in range(3):
                weights = np.array([np.exp(liking), 1.0, 1.0])
                weights[turn] *= 2
                row.append(int(random.choice(3, p=weights / weights.sum())))
            votes += votes_of(row, sample=sample)
        return votes

    truth = grade([instance() for _ in range(3000)], "j")
    held = {"grade_score": 0, "chance_corrected": 0}
    for _ in range(100):
        found = grade([instance() for _ in range(40)], "j")
        for name in held:
            interval = getattr(found, name)
            held[name] += interval.low <= getattr(truth, name).estimate <= interval.high
    # The standard error of 95 % of 100 is 2.2 points.
    for count in held.values():
        assert 0.885 <= count / 100 <= 0.995
