"""A judge within other frameworks, one file each."""
