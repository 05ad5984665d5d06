"""Best-of-N questions: candidates, prompts that cannot ask for the best, and the option from elsewhere."""

from evenhand.modes.choices import UNRELATED, choice_question, with_unrelated
from evenhand.modes.mode import Subject
from evenhand.question import comparison_criterion

BETTER = comparison_criterion("better", "Which answers the question?", context_fields={"question": "question"})


def candidates(*texts, instance=0, **more):
    named = {f"system-{number}": text for number, text in enumerate(texts)}
    return Subject(instance=instance, texts=named, judged=BETTER, **more)


class TestCandidates:
    def test_a_missing_one_is_left_out(self):
        row = candidates("a", None, "", "d")
        assert row.names == ("system-0", "system-2", "system-3")
        assert row.missing == ("system-1",)
        question = choice_question(row)
        assert question.responses == ("a", "", "d")
        assert [option.label for option in question.criterion.options] == ["Option 1", "Option 2", "Option 3"]


class TestUnrelated:
    def test_from_another_instance_and_equal_to_none_of_its_own(self):
        rows = [candidates("a", "b", instance=0), candidates("A ", "c", instance=1), candidates(" B", "a", instance=2)]
        # Apart from case and space: instance 0 has a and b, so only c is left; 1 may take b or  B; 2 only c.
        for seed in range(20):
            drawn = [row.facts[UNRELATED] for row in with_unrelated(rows, seed=seed)]
            assert drawn[0] == drawn[2] == "c"
            assert drawn[1] in {"b", " B"}
