"""Comparisons by a simulated judge whose chances are known in closed form, and what the report ought to say of it.

Nine kinds of instances, each as frequent: the first response is better, worse or equal in quality (which is what people
say of it), and half, equally or twice as long. The votes are drawn from the engine's own probabilities.
"""

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy.stats import binomtest

from evenhand.engines.free_engines import SimulatedEngine
from evenhand.judge_reliability.reliability import FIRST, NEITHER, SECOND
from evenhand.question import Question, comparison_criterion

CRITERION = comparison_criterion("better", "Which response is better?")
ADVANTAGE = 1.0
KINDS = list(product((ADVANTAGE, 0.0, -ADVANTAGE), ((99, 199), (99, 99), (199, 99))))
ORDERS = ((0, 1), (1, 0))
LABELS = {1: FIRST, 0: NEITHER, -1: SECOND}


@dataclass
class Simulation:
    """A judge with faults, and what it does to each kind of instance."""

    position: float = 0.0
    noise: float = 0.0
    verbosity: float = 0.0
    refusal: float = 0.0
    garbage: float = 0.0
    chances: np.ndarray = field(init=False)

    def __post_init__(self):
        self.engine = SimulatedEngine(
            quality=lambda question, index: float(question.context["quality"]) * (index == 0),
            position_preference=self.position,
            noise=self.noise,
            verbosity_preference=self.verbosity,
            refusal_rate=self.refusal,
            garbage_rate=self.garbage,
        )
        # P(the first response wins), a row a kind, a column an order.
        self.chances = np.array(
            [
                [self.engine.choice_probabilities(self.question(kind), order)[0] for order in ORDERS]
                for kind in range(len(KINDS))
            ]
        )

    @staticmethod
    def question(kind, number=0):
        quality, lengths = KINDS[kind]
        return Question(
            id=f"{number}",
            criterion=CRITERION,
            responses=tuple("x" * length for length in lengths),
            context={"quality": str(quality)},
            mode="compare",
            instance=number,
        )

    def truth(self):
        """Measure -> what it converges to. Noise draws both slopes towards 0, to no value in closed form."""
        first, second = self.chances.T
        primacy, recency = first * (1 - second), (1 - first) * second
        alike = (self.chances**2 + (1 - self.chances) ** 2).mean()
        wanted = np.array([{FIRST: 1.0, SECOND: 0.0, NEITHER: np.nan}[LABELS[int(np.sign(kind[0]))]] for kind in KINDS])
        right = np.where(np.isnan(wanted)[:, None], 0, np.where(wanted[:, None] == 1, self.chances, 1 - self.chances))
        return {
            "position consistency": 1 - (primacy + recency).mean(),
            "towards the first": primacy.mean() / (primacy + recency).mean(),
            "preference fairness": (recency - primacy).mean(),
            "repetition": alike,
            "spread": (1 - alike) / 2,
            "parse rate": 1 - self.refusal - self.garbage,
            "refusals": self.refusal,
            "unreadable": self.garbage,
            "single votes as people": right.mean(),
            **({} if self.noise else {"verbosity": self.verbosity}),
        }


def measured(report):
    """The same of a report, as intervals; without the measures that it has not."""
    counts = report.replies.unscored_counts
    shares = {
        reason: binomtest(count, counts.votes).proportion_ci(report.level) for reason, count in counts.reasons.items()
    }
    return {
        "position consistency": report.position.position_consistency,
        "towards the first": report.position.first_shown_share,
        "preference fairness": report.position.preference_fairness,
        "repetition": report.repetition.pair_agreement,
        "spread": report.spread,
        "parse rate": report.replies.parse_rate,
        "refusals": shares.get("refusal"),
        "unreadable": shares.get("no_match"),
        "single votes as people": report.people.vote_accuracy,
        "verbosity": report.verbosity_given_people.slope,
    }
