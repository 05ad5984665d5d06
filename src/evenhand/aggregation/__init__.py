"""From votes to verdicts, and from verdicts to the scores of rubrics and checklists."""
