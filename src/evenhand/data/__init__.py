"""What is judged, as it is loaded: rows of data and what their fields say, rubrics and checklists as people write them.

Everything here is data: nothing in a document or a row names a class or is built.
"""
