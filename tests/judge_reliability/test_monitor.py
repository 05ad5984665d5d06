"""A stream of verdicts that is watched: alarms, what is unscored, lines that hold no verdict, and how it ends."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from evenhand import Monitor
from evenhand.cli import main
from evenhand.errors import InvalidInputError
from evenhand.statistics.anytime import ConfidenceSequence


def watched(verdicts, **options):
    monitor = Monitor(**options)
    for verdict in verdicts:
        monitor.update(verdict)
    return monitor


@pytest.fixture
def stream(tmp_path):
    def write(lines, name="stream.jsonl"):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(path)

    return write


class TestAlarms:
    def test_an_alarm_comes_once_the_limit_passes_the_target(self):
        monitor, sequence = Monitor(at_least=0.9), ConfidenceSequence()
        for number in range(1, 200):
            sequence.update(number % 2)
            alarm = monitor.update(number % 2)
            assert (alarm is not None) == (sequence.limits(0.99)[1] < 0.9)
            if alarm:
                break
        assert (alarm.below, alarm.verdicts, alarm.limit) == (True, number, sequence.limits(0.99)[1])
        assert all(monitor.update(0) is None for _ in range(50))  # it is raised once
        assert monitor.alarms == [alarm]

    def test_the_other_side_is_the_mirror_image(self):
        scores = [1, 0.5, 1, 1, 0] * 30
        below = watched([1 - score for score in scores], at_least=0.5).alarms
        (above,) = watched(scores, at_most=0.5).alarms
        assert below[0].verdicts == above.verdicts
        assert (above.below, above.limit) == (False, pytest.approx(1 - below[0].limit))
        assert "the score is above 0.5 (at least 0.5" in str(above)

    def test_a_stream_that_is_as_it_should_be_rarely_raises_one(self):
        generator = np.random.default_rng(11)
        alarmed = fixed = 0
        for _ in range(20):
            scores = (generator.random(500) < 0.9).astype(float)
            alarmed += bool(watched(scores.tolist(), at_least=0.9, at_most=0.9).alarms)
            means, looks = np.cumsum(scores) / np.arange(1, 501), np.arange(1, 501)
            fixed += bool((np.abs(means - 0.9) > 1.96 * np.sqrt(0.09 / looks))[30:].any())
        assert alarmed <= 2  # of 20 at 1 % more than 2 have a probability of 0.1 %
        assert fixed > 4

    def test_what_is_unscored_raises_none(self):
        # 60 of 100 are good, and the other 40 might have been.
        assert watched([1] * 60 + [0] * 40, at_least=0.9).alarms
        monitor = watched([1, 1, 1, None, None] * 20, at_least=0.9, at_most=0.7)
        assert not monitor.alarms  # nor for the other side: they might have been bad
        assert (monitor.verdicts, monitor.unscored, monitor.score.estimate) == (100, 40, 1.0)
        bounds = monitor.unscored_bounds
        assert (bounds.low, bounds.high, bounds.share) == (0.6, 1.0, 0.4)
        assert bounds.interval_low == ConfidenceSequence.of([1] * 60 + [0] * 40).limits(0.99)[0]
        assert "(40 verdicts unscored): 0.60–1.00 [" in str(monitor)

    def test_a_few_unscored_do_not_lead(self):
        assert watched([1, 0] * 100 + [None], at_least=0.3).unscored_bounds is None


class TestVerdicts:
    def test_labels_and_numbers(self):
        read = watched(["Yes", False, "0.5", 1, " good ", None, float("nan"), "", "None"], values={"Good": 0.75})
        assert (read.verdicts, read.unscored) == (9, 4)
        assert read.score.estimate == pytest.approx((1 + 0 + 0.5 + 1 + 0.75) / 5)

    @pytest.mark.parametrize("verdict", [1.5, -1, "maybe", [1], {"score": 1}, float("inf")])
    def test_what_is_none_is_refused_and_not_counted(self, verdict):
        monitor = Monitor()
        with pytest.raises(InvalidInputError, match="a verdict is"):
            monitor.update(verdict)
        assert monitor.verdicts == 0
        assert str(monitor) == "no verdict yet"

    @pytest.mark.parametrize(
        "options", [{"at_least": 1.0}, {"at_most": "0.5"}, {"level": 1.2}, {"values": {"good": 5}}, {"at_least": True}]
    )
    def test_targets_that_are_none(self, options):
        with pytest.raises(InvalidInputError):
            Monitor(**options)


class TestInTheShell:
    def test_an_alarm_ends_it_with_exit_code_3(self, stream, capsys):
        path = stream([json.dumps({"score": row % 2}) for row in range(100)])
        assert main(["monitor", path, "--at-least", "0.9", "--every", "10"]) == 3
        shown = capsys.readouterr().out.splitlines()
        low, high = ConfidenceSequence.of([0, 1] * 5).limits(0.99)
        assert shown[0] == f"after 10 verdicts: 0.50 [{low:.2f}, {high:.2f}], 99% at all looks together"
        assert shown[-2].startswith("ALARM after ")
        assert main(["monitor", path, "--at-least", "0.9", "--keep-going"]) == 3
        assert capsys.readouterr().out.splitlines()[-1].startswith("after 100 verdicts: 0.50")

    def test_a_bad_line_costs_that_line(self, stream, capsys):
        lines = [
            "{oops",
            '{"verdict": "good"}',
            "",
            '{"score": 1}',
            '{"verdict": "bad"}',
            '{"verdict": 7}',
            "[" * 100_000,
        ]
        path = stream([*lines, '{"verdict": null}'])
        assert main(["monitor", path, "--column", "verdict", "--value", "good=1", "bad=0"]) == 0
        said = capsys.readouterr()
        assert said.out.startswith("after 3 verdicts (1 verdict unscored): ")
        assert "line 1: it is no JSON" in said.err
        assert "line 3: it has no 'verdict', but ['score']" in said.err
        assert "line 5: a verdict is 7" in said.err
        assert "no verdict could be read in 4 lines" in said.err

    def test_lines_may_be_the_verdicts(self, stream, capsys):
        assert main(["monitor", stream(["1", "0.5", '"no"', "true"])]) == 0
        assert "after 4 verdicts: 0.62 [" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("lines", "options", "message"),
        [
            ([], [], "holds no verdict"),
            (["{oops"], [], "holds no verdict: line 1: it is no JSON"),
            (["1"], ["--value", "good"], "give LABEL=SCORE, as good=1"),
            (["1"], ["--every", "0"], "--every is 0"),
            (["1"], ["--at-least", "90"], "at_least is 90"),
        ],
    )
    def test_bad_input_ends_in_exit_code_2(self, lines, options, message, stream, capsys):
        assert main(["monitor", stream(lines), *options]) == 2
        assert message in capsys.readouterr().err

    def test_a_file_that_is_not_there(self, tmp_path, capsys):
        assert main(["monitor", str(tmp_path / "none.jsonl")]) == 2
        assert "cannot be read" in capsys.readouterr().err

    @pytest.mark.skipif(os.name == "nt", reason="a pipe has no name there")
    def test_a_pipe_is_read_line_by_line(self):
        command = [sys.executable, "-m", "evenhand", "monitor", "-", "--every", "1", "--at-least", "0.5"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            for number in range(1, 4):
                process.stdin.write("1\n")
                process.stdin.flush()
                assert process.stdout.readline().startswith(f"after {number} verdict")  # before the next one is there
            process.stdin.close()
            assert process.wait(30) == 0
