"""Kernel models: a feature map that costs nothing or little, then any linear solver."""

from privlearn.kernel_model.classifier import KernelClassifier
from privlearn.kernel_model.regressor import KernelRegressor

__all__ = ["KernelClassifier", "KernelRegressor"]
