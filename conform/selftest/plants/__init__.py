"""Wrong backends, one a class of real bugs: each is torch on the CPU with one defect planted."""
