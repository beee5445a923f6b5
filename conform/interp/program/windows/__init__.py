"""Rules of ops over windows of the last dims: convolution, pooling, resampling."""
