"""The lab: test data, rivals, experiments and the demo. Nothing in the product depends on it."""
