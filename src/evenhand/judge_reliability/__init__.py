"""The reliability of judges, from their votes alone: no call is made.

- :mod:`~evenhand.judge_reliability.against_people`: how far raters agree with each other and with gold.
- :mod:`~evenhand.judge_reliability.one_judge`: a single judge: position, repetition, length, people, confidences.
- :mod:`~evenhand.judge_reliability.panel_report`: panels and repeated draws.
- :mod:`~evenhand.judge_reliability.tables`: all of that in words and as tables.
"""
