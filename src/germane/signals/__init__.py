"""Behaviour: what is counted of every signal, and how it decays."""
