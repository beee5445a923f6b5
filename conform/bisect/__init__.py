"""First divergence: a module op by op on a backend, and the op that is wrong as a case of its own."""
