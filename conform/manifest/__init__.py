"""What a backend claims to do: a file that a run holds it to, and the first one, made of a run's record."""
