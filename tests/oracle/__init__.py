"""A plain, slow, independent reading of the contracts of SEARCH and RETRIEVE.

It shares no code with the product: tests compare the two. Read the files in this order: `characters`,
`languages`, `words` (text to terms), `sections` (what is indexed), `query`, `plan` (what is asked), `scores`
(the formulas), `search` (brute force over every section); then `readings` (of signals), `terms`, `profiles`
(as they are printed), `retrieve` (brute force over every item).
"""
