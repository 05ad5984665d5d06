"""Result tables as Markdown, HTML and plots; nothing is computed here."""
