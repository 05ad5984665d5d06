"""Labels of people: reading, corrected scores, and the number of labels required."""
