"""Tables of any container as bounded rows, each read and bounded by itself."""
