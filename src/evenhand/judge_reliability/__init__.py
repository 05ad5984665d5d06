"""How far judges can be trusted, from their votes alone: no call is made.

- :mod:`~evenhand.judge_reliability.columns`: votes as people record them.
- :mod:`~evenhand.judge_reliability.raters`: how far raters agree with each other and with the truth.
- :mod:`~evenhand.judge_reliability.panel_report`: panels and repeated draws.
- :mod:`~evenhand.judge_reliability.asked`: questions with their votes as arrays, and what the length of responses does.
- :mod:`~evenhand.judge_reliability.one_judge`: a single judge;
  :mod:`~evenhand.judge_reliability.agreement_with_people`: against gold labels.
- :mod:`~evenhand.judge_reliability.report`: all of that as tables; :mod:`~evenhand.judge_reliability.words`: in words.
"""
