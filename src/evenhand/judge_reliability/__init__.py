"""The reliability of judges, from their votes alone: no call is made.

- :mod:`~evenhand.judge_reliability.against_people`: the agreement of raters with each other and with gold.
- :mod:`~evenhand.judge_reliability.one_judge`: one judge: position, repetition, length, people, confidences.
- :mod:`~evenhand.judge_reliability.panel_report`: panels and repeated draws.
"""
