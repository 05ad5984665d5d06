"""From questions to votes: the requests, their order and number, and the calls."""
