"""The data set that ``evenhand demo`` judges, and its loader."""
