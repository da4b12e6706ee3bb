"""One file or package per component; see docs/benchmarks.md."""
