"""References of StableHLO's ops whose meaning no operator of ATen shares."""
