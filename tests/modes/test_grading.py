"""From votes in all rotations to the Grade Score: by hand, and its intervals."""

import numpy as np
import pytest

from evenhand.modes.choices import grade, unrelated_effect
from evenhand.statistics import grade_score_chance
from evenhand.votes import Vote


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
    return grade([votes_of(row) for row in rows], **more)


class TestGrade:
    def test_instances_of_several_sizes_and_chance(self):
        # 2 options: E = 1/2, corrected 1, -1, -1; 4 options with G = 3/4: E = 0.571.
        result = graded([[0, 0], [0, 1, 1, 1], [0, 1], [1, 0], [2, 2, 2, 2]])
        assert [one.grade_score for one in result.instances] == [1.0, pytest.approx(0.75), 0.0, 0.0, 1.0]
        four = grade_score_chance(4, 4)
        corrected = [1, (0.75 - four) / (1 - four), -1, -1, 1]
        assert [one.chance_corrected for one in result.instances] == pytest.approx(corrected)
        assert result.chance_corrected.estimate == pytest.approx(np.mean(corrected))
        assert result.chance == pytest.approx((3 * 0.5 + 2 * four) / 5)
        assert [size.n_options for size in result.histograms] == [2, 4]

    @pytest.mark.parametrize("size", [2, 3, 4])
    def test_a_random_judge_is_corrected_to_0(self, size):
        result = graded(np.random.default_rng(size).integers(size, size=(600, size)).tolist(), level=0.999)
        assert result.chance_corrected.low < 0 < result.chance_corrected.high
        assert result.grade_score.low < result.chance < result.grade_score.high
        assert result.histograms[0].places.p_value > 0.001


class TestUnrelatedEffect:
    def test_by_hand(self):
        # The unrelated candidate is the last one. Instance 0 takes it once where it stands first, 1 never.
        more, fewer = graded([[0, 0, 2], [1, 1, 1]]), graded([[0, 0], [1, 1]])
        effect = unrelated_effect(more, fewer)
        assert effect.chosen.estimate == pytest.approx(1 / 6)
        # 0 at 0, 0 at 2, 2 at 0: the same counts as above, G = 0.6200; without it 1. The other instance has 1 twice.
        assert effect.difference.estimate == pytest.approx((0.6200 - 1 + 1 - 1) / 2, abs=5e-5)
        assert effect.num_paired == 2


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

    truth = grade([instance() for _ in range(3000)])
    held = {"grade_score": 0, "chance_corrected": 0}
    for _ in range(100):
        found = grade([instance() for _ in range(40)])
        for name in held:
            interval = getattr(found, name)
            held[name] += interval.low <= getattr(truth, name).estimate <= interval.high
    # The standard error of 95 % of 100 is 2.2 points.
    for count in held.values():
        assert 0.885 <= count / 100 <= 0.995
