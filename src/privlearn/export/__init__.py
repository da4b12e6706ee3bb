"""Fitted models for others: files, plain scikit-learn, ONNX and SQL."""
