"""Best-of-N questions in tests: what a prompt shows, and judges that choose by a function of it."""

import json
import re

from tests.support.judges import ScriptedJudge

_CANDIDATE = re.compile(r"<option-(\d+)-[0-9a-f]{8}>\n(.*?)\n</option-\1-[0-9a-f]{8}>", re.DOTALL)


def shown_candidates(prompt):
    """The candidates in the order in which a prompt shows them."""
    found = _CANDIDATE.findall(prompt)
    assert [number for number, _ in found] == [str(place) for place in range(1, len(found) + 1)]
    return [text for _, text in found]


def reply_for(place):
    """A reply that chooses the candidate at a place; a refusal where the place is None."""
    if place is None:
        return "I'm sorry, but I can't help with that request."
    return json.dumps({"assessment": "They differ.", "selected_option": f"Option {place + 1}"})


def choosing_judge(place_of, name="chooser"):
    """A judge that chooses the place ``place_of(candidates as shown)``, and refuses where that is None."""

    def reply(request):
        return reply_for(place_of(shown_candidates(request.messages[0]["content"])))

    return ScriptedJudge(reply, name=name, identity=False)
