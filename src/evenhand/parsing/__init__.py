"""From a judge's reply to one of the offered options, or to the reason why there is none. Never guesses.

``match_closest_option`` asks, in this order:

1. ``whole``: is the whole reply one label? (``exact``, then ``normalized``)
2. ``statements``: what does the last explicit verdict name: a tag, a JSON field, a lead-in, a conclusion? (``verdict``)
3. ``mentions``: which single label does the reply name in a place where a verdict can stand? (``mention``)
4. ``near``: is the reply, or its verdict, a misspelling of exactly one label? (``near``)

``cleaning`` first takes away what is not the judge's own word (hidden thinking, quotations, Markdown), and ``labels``
writes every mention of a label as one private character, so that the rules read sentences and not spellings.
"""

from evenhand.parsing.match import Kind, Match, Reason
from evenhand.parsing.reading import match_closest_option
from evenhand.parsing.sheets import SheetAnswer, read_sheet
from evenhand.parsing.token_probabilities import option_probabilities

__all__ = ["Kind", "Match", "Reason", "SheetAnswer", "match_closest_option", "option_probabilities", "read_sheet"]
