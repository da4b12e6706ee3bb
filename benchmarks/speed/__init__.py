"""One file per component; see docs/benchmarks.md."""
