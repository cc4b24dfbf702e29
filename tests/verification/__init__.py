"""One named test for each criterion of personalization, against closed forms written here from the formulas.

Nothing is shared with the product. Every docstring says which change of the product makes the test fail; each
was seen to fail under it.
"""
