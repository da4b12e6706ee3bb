"""Fitted models for others: files, plain scikit-learn, ONNX, SQL, and a page for people."""
