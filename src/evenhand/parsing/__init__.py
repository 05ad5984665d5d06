"""Reading of a judge's reply as one of the offered options, or as the reason why there is none. Never guesses.

The reading contract is in ``reading``: a reply is a verdict if the whole reply is one label, if it is one JSON object
whose verdict field names one, if its tags name one, or if its last line is a verdict line. Free prose is not read: a
mention is not a verdict, in any language. ``labels`` recognises a short text as a label; ``cleaning`` takes away hidden
thinking and markup; ``sheets`` reads the answers to many items by the same contract.
``python -m benchmarks.reading`` measures it on recorded replies.
"""

from evenhand.parsing.reading import (
    ReplyReading,
    compile_pattern,
    match_closest_option,
    match_pattern,
    read_reply,
    where_read,
)
from evenhand.parsing.sheets import read_sheet

__all__ = ["ReplyReading", "compile_pattern", "match_closest_option", "match_pattern", "read_reply", "read_sheet"]
__all__ += ["where_read"]
