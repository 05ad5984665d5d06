"""Criteria that the tests of recorded votes share."""

from evenhand.criteria import Criterion, Option

LEVELS = Criterion(
    name="clear",
    description="How clear is it?",
    options=tuple(
        Option(label=label, value=value)
        for label, value in [("Excellent", 1), ("Good", 0.75), ("Fair", 0.5), ("Poor", 0.25), ("Bad", 0)]
    ),
)
"""Best first: indices and levels run in opposite directions."""

GRADES = Criterion(
    name="grade",
    description="",
    options=tuple(Option(label=str(grade), value=(grade - 1) / 4) for grade in range(1, 6)),
)

SAFE = Criterion(
    name="safe",
    description="",
    options=(Option(label="Safe", value=1), Option(label="Unsafe", value=0), Option(label="N/A", na=True)),
    scale="binary",
)

KINDS = Criterion(
    name="kind",
    description="",
    options=(Option(label="Fact"), Option(label="Opinion"), Option(label="Question"), Option(label="None", na=True)),
    scale="nominal",
)
