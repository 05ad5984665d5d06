"""From questions to votes: what is asked, in which order, how often, and how the calls are run."""
