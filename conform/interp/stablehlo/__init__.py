"""StableHLO's ops as an op set of programs: every op rounds its result to its element type."""
