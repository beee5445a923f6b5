"""StableHLO's ops on the real numbers that a program means, each with how far an honest engine's may lie from it."""
