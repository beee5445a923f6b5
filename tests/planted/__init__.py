"""Wrong backends, one a class of real bugs. Each is torch on the CPU with one defect planted."""
