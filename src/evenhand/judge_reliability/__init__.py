"""The reliability of judges, from their votes alone: no call is made.

- :mod:`~evenhand.judge_reliability.reliability`: raters with each other and with gold; position, repetition, length,
  people and confidences of one judge.
- :mod:`~evenhand.judge_reliability.panel_report`: panels and repeated draws.
"""
