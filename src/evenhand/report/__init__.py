"""What people look at and what gates see: pages, pictures, summaries, and limits on named numbers."""
