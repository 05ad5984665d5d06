"""Aggregation of votes to verdicts, and of verdicts to the scores of rubrics and checklists."""
