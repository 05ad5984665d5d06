"""The data of a run as loaded: rows and their fields, and rubrics and checklists as people write them.

Everything here is data: nothing in a document or a row names a class or is built.
"""
