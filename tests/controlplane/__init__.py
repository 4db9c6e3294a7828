"""A small Kubernetes API server for tests: what a joining node asks of a control plane."""
