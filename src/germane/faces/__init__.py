"""How people and programs reach the database; thin, with no ranking logic."""
