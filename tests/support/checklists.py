"""Replies to checklists for tests: sheets of answers, and judges that are as sure as they are right."""

import json
import re


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
