"""From a judge's reply to one of the offered options, or to the reason why there is none. Never guesses.

``match_closest_option`` (in ``reading``) asks, in this order, and the first answer counts:

1. whole: is the whole reply one label? (``exact``, then ``normalized``)
2. JSON: what do the verdict-like fields of the judge's own objects say? (``json_values``; ``verdict``)
3. statements: what does the last explicit verdict name: a tag, a lead-in, a conclusion? (``statements``; ``verdict``)
4. mentions: which single label does the reply name in a place where a verdict can stand? (``mentions``; ``mention``)
5. near: is the reply, or its verdict, a misspelling of exactly one label? (``labels``; ``near``)

Method: a mention is evidence, not a verdict. A verdict is the whole reply, the field asked for where the reply is that
JSON or ends in it, or the last statement of a verdict that nothing later contradicts. What the reply quotes, has from
others, lists as the choices, supposes or denies is none; of exactly two opposites the denial of one is the other; two
verdicts that differ without a word of correction between them are ambiguous; a refusal is one, whatever word it opens
with. The patterns are of English, and of the commonest words for "verdict" and "not" in a few other languages.

Measured with ``python -m benchmarks.reading`` on recorded replies. Read as their authors read them: 99.5 % of 83,046 of
LLMBar, 99.8 % of 14,400 of MT-bench. Prose verdicts on open questions (1,428): under Yes and No 99.7 % read, none
inverted; under eleven other pairs of labels none inverted, 72 % read: the others begin with yes or no and name neither
label. On 182 replies of other judges' styles, answered before the first run: 161 read as stated, 15 unread, 2 inverted,
4 believed that state none; on 73 more, after what those showed was mended: 60, 11, 0 and 2. All but six,
which stay unread, stand in ``tests/parsing_hard_cases.jsonl``.

``material`` hides what a reply quotes of what was judged. ``cleaning`` first takes away what else is not the judge's
own word (hidden thinking, quotations, Markdown), and ``labels`` writes every mention of a label as one private
character, so that the rules read sentences and not spellings. The words that rules share are in ``grammar``.
``read_sheet`` finds the entries of a sheet of many items (``sheet_entries``) and
reads each of them as a reply (``sheets``).
"""

from evenhand.parsing.material import hide_material
from evenhand.parsing.reading import match_closest_option, where_read
from evenhand.parsing.sheets import SheetAnswer, read_sheet
from evenhand.parsing.token_probabilities import option_probabilities

__all__ = ["SheetAnswer", "hide_material", "match_closest_option", "option_probabilities", "read_sheet", "where_read"]
