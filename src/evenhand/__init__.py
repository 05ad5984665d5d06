"""evenhand: LLM judges for unitxt that say truthfully how far their judgement can be trusted."""

__version__ = "0.1.0"
