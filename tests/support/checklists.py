"""Replies to checklists for tests: sheets of answers, and judges that are as sure as they are right."""

import hashlib
import json
import math
import re

from tests.support.server import Reply, conversation


def sheet(*answers, reasoning=None):
    """A reply in the form asked for: answers to the items 1, 2, …; None leaves one out."""
    reasons = {} if reasoning is None else {"reasoning": reasoning}
    entries = [
        {"index": number, **reasons, "answer": answer} for number, answer in enumerate(answers, start=1) if answer
    ]
    return json.dumps({"answers": entries})


def shown_items(text):
    """Number -> question, of a prompt that shows a sheet."""
    return {int(number): question for number, question in re.findall(r"^(\d+)\. (.+?) \(answers: ", text, re.MULTILINE)}


def uniform(*labels):
    """A number in [0, 1) that the labels determine."""
    digest = hashlib.sha256(json.dumps(labels).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def pass_probability(text, question):
    """How probable it is that the judge says yes: another number for each prompt's answer and each question."""
    answer = re.search(r"answer-\d+", text).group(0)
    return 0.02 + 0.96 * uniform(answer, question)


def _verdict_token(label, probability):
    """The token of the verdict: yes and no in several forms, a tenth of the mass on something else."""
    likeliest = {
        "Yes": math.log(0.6 * probability),
        " yes": math.log(0.3 * probability),
        "No": math.log(0.7 * (1 - probability)),
        "NO": math.log(0.2 * (1 - probability)),
        "Perhaps": math.log(0.1),
    }
    return (label, likeliest[label], likeliest)


def calibrated_item_judge(body):
    """Answers one question: yes with its probability, which the log-probabilities give."""
    text = conversation(body)
    probability = pass_probability(text, re.search(r"^The question: (.+)$", text, re.MULTILINE).group(1))
    label = "Yes" if uniform(text, body.get("seed")) < probability else "No"
    tokens = [('{"', -0.1, {}), ("selected_option", -0.1, {}), ('": "', -0.1, {}), _verdict_token(label, probability)]
    return Reply(f'{{"selected_option": "{label}"}}', logprobs=[*tokens, ('"}', -0.1, {})])


def calibrated_sheet_judge(body):
    """Answers all questions of a sheet likewise."""
    text = conversation(body)
    parts, tokens = [], []

    def say(piece, entry=None):
        parts.append(piece)
        tokens.append(entry or (piece, -0.01, {piece: -0.01}))

    say('{"answers": [')
    for number, question in shown_items(text).items():
        probability = pass_probability(text, question)
        label = "Yes" if uniform(text, question, body.get("seed")) < probability else "No"
        say(f'{", " if number > 1 else ""}{{"index": {number}, "answer": "')
        say(label, _verdict_token(label, probability))
        say('"}')
    say("]}")
    return Reply("".join(parts), logprobs=tokens)
