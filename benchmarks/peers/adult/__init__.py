"""Adult: private logistic regression beside diffprivlib."""
