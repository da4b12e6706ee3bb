"""Benchmarks: papers, peers and speed. See docs/benchmarks.md."""
