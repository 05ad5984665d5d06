"""The ways of judging: the questions of each, the results of the votes, and the measures of many results."""
