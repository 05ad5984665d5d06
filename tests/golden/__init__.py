"""What evenhand says today, held still while its house is rebuilt: runs, and everything that they print and score.

The files beside this one are our own output, so they prove no number right (the other tests do): they show which
number, name or sentence a change moves. ``python -m tests.golden`` writes them anew; read the difference line by line.
"""
