"""Results: their measures, their tables, and how they are saved."""
