"""Sessions of agents: their life, what they may write, and what they come to."""
