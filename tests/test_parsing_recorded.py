"""The reading of replies measured on recorded judges, next to their authors' labels."""

import pytest

from benchmarks.reading import LIMITS, main, recorded
from tests.support.shared import shared_path


@pytest.mark.slow
def test_recorded_replies_are_read_within_the_limits_of_the_contract(capsys):
    shared_path("data/llmbar_raw_completions.jsonl.gz")
    main(["--check"])
    table = capsys.readouterr().out
    assert all(f"| {name}" in table for name in LIMITS)


def test_replies_to_prompts_that_ask_for_tags_agree_with_a_simple_reader(tmp_path):
    """One in sixteen of the recorded replies; ``python -m benchmarks.reading`` reads all."""
    shared_path("data/posbias_mtbench_raw.jsonl.gz")
    assert len(recorded("posbias_mtbench_raw.jsonl.gz")) == 14_400
    main(["--check", "--only", "MT-bench"])
