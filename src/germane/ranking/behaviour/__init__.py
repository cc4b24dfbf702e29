"""What people did, as numbers that a profile weighs."""
