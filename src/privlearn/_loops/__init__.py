"""Compiled loops over plain arrays: no estimator, no epsilon in sight.

Functions are at module level and cached on disk, so that only the first process ever compiles; the
modules load numba and are therefore imported where they are used, not at the top of a file.
"""
