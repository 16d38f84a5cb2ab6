"""The rivals' hot loops: numba on plain arrays, like `gramlink.kernels`."""
