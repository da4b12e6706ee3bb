"""Stochastic gradient descent on sampled rows ("sgd")."""
