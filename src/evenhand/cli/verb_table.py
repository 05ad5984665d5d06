"""The verbs that are Python functions: what each takes beside the parameters of its function."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pydantic.fields import FieldInfo

from evenhand.cli.flags import Declared, Words, declared, flag_of
from evenhand.errors import InvalidInputError
from evenhand.options import JobOptions, Options

OUT = declared(str, None, "Write the result there: .parquet has a row per vote, .jsonl a line per question.")
CRITERIA = declared(Words, None, "Criteria: catalog ids, JSON or YAML files, or plain sentences (yes or no).")
LEAVE_OUT = declared(
    Words, None, "What of the votes is not written with --out, because it is long: prompts, reasoning, logprobs."
)
LOG = declared(
    bool, False, "DATA is a log of inspect_ai, lm-eval, AlpacaEval or MT-Bench: take its rows from read_log."
)
VOTES = declared(Words, None, "The column of DATA that holds recorded votes, or several, one per judge: none is asked.")
CONFIG = declared(
    str,
    None,
    "A run file (.yaml, .json or .toml), or a saved result: what it says holds where no option here says otherwise.",
)


@dataclass(frozen=True, slots=True)
class Verb:
    """A Python function as a verb.

    Attributes:
        name: In the shell.
        function: In Python.
        kind: What a saved file calls its result; empty for a report.
        written: The rows of its table that a file holds, and their name.
        required: What must be given though the function has a default.
        one_of: Of which exactly one must be given.
        columns: What names columns or systems; its words are split at commas.
        also: What is declared otherwise than by the function, or only here.
    """

    name: str
    function: str
    kind: str = ""
    written: tuple[str, str] = ("", "")
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    also: Mapping[str, FieldInfo] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, FieldInfo]:
        """What it takes beside the data and the options of models, by the names of Python."""
        own = Declared.of(self.function).own
        further = {"leave_out": LEAVE_OUT} if self.asks else {"log": LOG} if self.kind else {}
        held = {**own, "out": OUT, "config": CONFIG, **further, **self.also}
        return {name: info for name, info in held.items() if name != "data"}

    @property
    def models(self) -> tuple[type[Options], ...]:
        """The models of its further options."""
        return (*Declared.of(self.function).models, JobOptions)

    @property
    def needed(self) -> tuple[str, ...]:
        """What must be given beside the data."""
        own = Declared.of(self.function).own
        declared_so = [name for name, info in own.items() if info.is_required() and name != "data"]
        return tuple(name for name in (*declared_so, *self.required) if name not in self.one_of)

    def check_given(self, given: Collection[str]) -> None:
        """Check that all is given that must be.

        Raises:
            InvalidInputError: If not.
        """
        for name in ("data", *self.needed):
            if name not in given:
                raise InvalidInputError(
                    f"{self.name} needs {name!r}, which neither the run file nor an option says (in the shell "
                    f"{'DATA' if name == 'data' else flag_of(name)})"
                )
        if self.one_of and sum(name in given for name in self.one_of) != 1:
            raise InvalidInputError(f"{self.name} needs one of {' and '.join(map(repr, self.one_of))}, and not several")

    @property
    def asks(self) -> bool:
        """Whether its result holds votes that judges were asked for."""
        return bool(self.kind) and "engine" in Declared.of(self.function).own


VERBS = (
    Verb(
        "judge",
        "judge",
        kind="judgements",
        written=("entries", "verdict"),
        required=("response_fields",),
        one_of=("criteria", "rubric", "rubric_field"),
        columns=("response_fields",),
        also={
            "criteria": CRITERIA,
            "rubric": declared(str, None, "The catalog id, or the JSON or YAML file, of a rubric."),
        },
    ),
    Verb(
        "winrates",
        "winrates",
        kind="winrates",
        written=("contests", "contest"),
        one_of=("engine", "votes"),
        columns=("response_fields", "systems", "votes"),
        also={"votes": VOTES},
    ),
    Verb(
        "checklist",
        "checklist",
        kind="checklist",
        written=("responses", "checked response"),
        one_of=("checklist", "checklist_field"),
        columns=("response_fields", "votes"),
        also={"votes": VOTES},
    ),
    Verb(
        "reliability",
        "reliability",
        one_of=("engine", "votes"),
        columns=("response_fields", "systems", "votes"),
        also={
            "votes": VOTES,
            "criteria": CRITERIA,
            "gold_fields": declared(
                str | Mapping[str, str],
                None,
                "Criterion name -> column with what people said: a label, or the preferred system or tie; with one "
                "criterion the column alone.",
            ),
            "out": declared(str, None, "Write the result there: as .json (which can be read again), .md or .html."),
        },
    ),
    Verb(
        "run-mode",
        "run_mode",
        kind="mode_results",
        written=("subjects", "judged subject"),
        required=("response_fields",),
        columns=("response_fields",),
    ),
    Verb("aggregate-votes", "aggregate_votes", kind="aggregated_votes", written=("verdicts", "verdict")),
    Verb(
        "read-replies",
        "read_replies",
        kind="aggregated_votes",
        written=("verdicts", "verdict"),
        columns=("replies",),
    ),
    Verb("agreement", "agreement", kind="agreement", written=("pairs", "pair")),
)
