"""Golden files: inputs, goldens and bounds of suites as safetensors and JSON, for programs without Python or torch.

docs/golden.md is their format. The package is not called `golden`: `conform.golden` is a function.
"""
