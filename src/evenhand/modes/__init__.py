"""The ways of judging: what each asks, what the votes come to, and what many results say together."""
