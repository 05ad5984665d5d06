"""Evaluations of inspect_ai, in a process of its own: it sets up logging and leaves streams open. Prints JSON."""

import asyncio
import json
import math
import sys

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.model import Logprob, Logprobs, ModelOutput, ModelUsage, TopLogprob, get_model
from inspect_ai.solver import generate

from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.integrations.inspect_ai import engine, scorer
from evenhand.judges import Judge
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.questions import LEVELS
from tests.support.server import JudgeServer

EIGHT = yes_no_criterion("eight", "Is it eight?")
SAMPLES = [Sample(id=number, input=f"How much is {number} and 1?", target=str(number + 1)) for number in range(1, 41)]


def said(model, text):
    """A reply; with its usage, which inspect would count with a vocabulary that it downloads."""
    reply = ModelOutput.from_content(model, text)
    reply.usage = ModelUsage(input_tokens=20, output_tokens=5, total_tokens=25)
    return reply


def answers():
    """A model that is asked for sums, and right."""
    return get_model(
        "mockllm/model",
        custom_outputs=lambda messages, *_: said("model", f"It is {int(messages[-1].text.split()[3]) + 1}."),
        memoize=False,
    )


def grader(calls, reply=lambda prompt: "Yes" if "\nIt is 8.\n" in prompt else "No"):
    """A model that judges by its prompt."""

    def judged(messages, *_):
        calls.append(messages[0].text)
        return said("grader", "It was compared." if len(messages) == 1 else reply(messages[0].text))

    return get_model("mockllm/grader", custom_outputs=judged, memoize=False)


def evaluated(folder, *judges, samples=SAMPLES, **how):
    """What an evaluation tells of each score."""
    task = inspect_ai.Task(dataset=samples, solver=generate(), scorer=[scorer(judge) for judge in judges])
    (log,) = inspect_ai.eval(task, model=answers(), log_dir=folder, display="none", **how)
    if log.status != "success":
        return {"error": log.error.message}
    return {
        "usage": sorted(log.stats.model_usage),
        "events": [event.model for event in log.samples[0].events if event.event == "model"],
        "scores": {
            score.name: {
                "scored": score.scored_samples,
                "unscored": score.unscored_samples,
                "mean": score.metrics["mean"].value,
                "samples": {sample.id: sample.scores[score.name].model_dump(mode="json") for sample in log.samples},
            }
            for score in log.results.scores
        },
    }


def broken(prompt):
    """A provider that fails."""
    raise ZeroDivisionError(len(prompt))


def expected(folder):
    """The score by log-probabilities that inspect passes on: 3 to 1 for yes."""
    top = [TopLogprob(token=token, logprob=math.log(share)) for token, share in (("Yes", 0.75), ("No", 0.25))]

    def sure(messages, *_):
        reply = said("grader", "Yes")
        reply.choices[0].logprobs = Logprobs(content=[Logprob(token="Yes", logprob=top[0].logprob, top_logprobs=top)])
        return reply

    how = {"scoring": "expected", "flow": "verdict_only", "journal": None}
    judge = Judge(EIGHT, engine(get_model("mockllm/grader", custom_outputs=sure, memoize=False)), **how)
    return evaluated(folder, judge, samples=SAMPLES[:1])["scores"]["eight"]["mean"]


def cached(folder):
    """Two draws of a prompt are two calls, and the second evaluation makes none."""
    calls, counts = [], []
    for _ in range(2):
        how = {"journal": None, "samples": 2, "check_positional_bias": False}
        judge = Judge(EIGHT, engine(grader(calls), cache=True), **how)
        evaluated(folder, judge, samples=SAMPLES[:3])
        counts.append(len(calls))
    return counts


def outside():
    """Of a model of inspect that is asked where inspect does not run."""
    try:
        asyncio.run(Judge(EIGHT, engine(grader([])), journal=None)(response="x"))
    except InvalidInputError as error:
        return str(error)
    return None


def main(folder):
    calls = []
    rubric = Rubric(name="manners", criteria=(EIGHT, yes_no_criterion("polite", "Is it polite?")))
    unsure = ScriptedJudge(lambda request: "Who knows." if "It is 3." in request.messages[0]["content"] else "Yes")
    with JudgeServer(labels=LEVELS.labels) as server:
        ours = evaluated(folder, Judge(LEVELS, http_judge(server.base_url, max_in_flight=8), journal=None))
        in_flight = server.max_in_flight
    found = {
        "ours": ours,
        "in_flight": in_flight,
        "inspects": evaluated(folder, Judge(EIGHT, engine(grader(calls)), journal=None)),
        "prompt": calls[0],
        "unscored": evaluated(folder, Judge(EIGHT, unsure, journal=None, flow="verdict_only"), samples=SAMPLES[:4]),
        "two": evaluated(
            folder,
            Judge(rubric, ScriptedJudge(chooses("Yes")), journal=None),
            Judge(LEVELS, ScriptedJudge(chooses("Mid")), journal=None),
            samples=SAMPLES[:2],
        ),
        "failed": evaluated(folder, Judge(EIGHT, engine(grader([], broken)), journal=None), samples=SAMPLES[:2]),
        "expected": expected(folder),
        "cached": cached(folder),
        "outside": outside(),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
