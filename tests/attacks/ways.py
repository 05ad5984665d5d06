"""Every way of judging a data set, as one function of rows and an engine: what holds for one must hold for all."""

import evenhand

CRITERION = {
    "name": "correct",
    "description": "Is the response correct?",
    "options": [{"label": "Yes", "value": 1}, {"label": "No", "value": 0}],
}
RUBRIC = {"name": "reply", "criteria": [CRITERION, {**CRITERION, "name": "clear", "description": "Is it clear?"}]}
CHECKLIST = ["Is it correct?", "Is it clear?"]
PAIR = ["answer", "other"]
QUIET = {"progress": False, "journal": None, "context_fields": "question", "check_positional_bias": False}


def _of_rows(given):
    """Rows that bring what they are judged by, unless they bring something else already."""
    return [{"criteria": CRITERION, "rubric": RUBRIC, "checklist": CHECKLIST, **row} for row in given]


def _direct(rows, engine, **how):
    return evenhand.judge(rows, CRITERION, engine, response_fields="answer", **QUIET | how)


def _rubric(rows, engine, **how):
    return evenhand.judge(rows, RUBRIC, engine, response_fields="answer", **QUIET | how)


def _rubric_sheet(rows, engine, **how):
    return _rubric(rows, engine, calls="per_item", **how)


def _own_rubrics(rows, engine, **how):
    how = QUIET | how
    return evenhand.judge(_of_rows(rows), None, engine, rubric_field="rubric", response_fields="answer", **how)


def _pairwise(rows, engine, **how):
    return evenhand.winrates(
        rows, "criteria.evenhand.pairwise.overall_quality", engine, response_fields=PAIR, **QUIET | how
    )


def _swiss(rows, engine, **how):
    criterion = "criteria.evenhand.pairwise.overall_quality"
    return evenhand.winrates(rows, criterion, engine, response_fields=[*PAIR, "third"], design="swiss:2", **QUIET | how)


def _checklist(rows, engine, **how):
    return evenhand.checklist(rows, CHECKLIST, engine, response_fields="answer", **QUIET | how)


def _checklist_item(rows, engine, **how):
    return _checklist(rows, engine, mode="item", **how)


def _own_checklists(rows, engine, **how):
    how = QUIET | how
    return evenhand.checklist(
        _of_rows(rows), None, engine, checklist_field="checklist", response_fields="answer", **how
    )


def _grade_scores(rows, engine, **how):
    how = {name: value for name, value in (QUIET | how).items() if name != "check_positional_bias"}
    criterion = "criteria.evenhand.pairwise.overall_quality"
    return evenhand.grade_scores(rows, criterion, engine, response_fields=[*PAIR, "third"], **how)


def _best_of(rows, engine, **how):
    criterion = "criteria.evenhand.pairwise.overall_quality"
    systems = [*PAIR, "third"]
    return evenhand.run_mode(rows, "best_of", engine, criteria=criterion, response_fields=systems, **QUIET | how)


def _reliability(rows, engine, **how):
    return evenhand.reliability(rows, CRITERION, engine, response_fields="answer", **QUIET | how)


def _metric(rows, engine, **how):
    names = ("progress", "journal", "check_positional_bias", "flow", "data_classification", "scoring", "max_reasks")
    fields = {name: value for name, value in (QUIET | how).items() if name in names}
    metric = evenhand.DirectJudge(
        criteria_field="criteria", inference_engine=engine, context_fields=["question"], **fields
    )
    task_data = _of_rows(rows)
    return metric.compute(predictions=[row["answer"] for row in rows], task_data=task_data)


def _module(rows, engine, **how):
    fields = {name: value for name, value in (QUIET | how).items() if name != "context_fields"}
    metric = evenhand.DirectJudge(
        criteria=evenhand.load(CRITERION), inference_engine=engine, context_fields=["question"], **fields
    )
    columns = {name: [row[name] for row in rows] for name in rows[0] if name not in {"answer", "other", "third"}}
    return evenhand.evaluation_module(metric).compute(predictions=[row["answer"] for row in rows], **columns)


WAYS = {
    "direct": _direct,
    "rubric": _rubric,
    "rubric_sheet": _rubric_sheet,
    "own_rubrics": _own_rubrics,
    "pairwise": _pairwise,
    "swiss": _swiss,
    "checklist": _checklist,
    "checklist_item": _checklist_item,
    "own_checklists": _own_checklists,
    "grade_scores": _grade_scores,
    "best_of": _best_of,
    "reliability": _reliability,
    "metric": _metric,
    "evaluate": _module,
}
