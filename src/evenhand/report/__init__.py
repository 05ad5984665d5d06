"""Pages, pictures and summaries of results, and conditions on their measures."""
