"""How to cite a model: its method, the library, and what this page follows."""

from __future__ import annotations

from privlearn._core.certificate import Certificate
from privlearn.export.report.markup import Markup, group, tag
from privlearn.export.report.nist import REFERENCE

__all__ = ["REFERENCES", "citations"]

# By author and year, as certificates name the papers of their methods.
REFERENCES = {
    "Song": "S. Song, K. Chaudhuri, A. D. Sarwate. Stochastic gradient descent with differentially "
    "private updates. IEEE GlobalSIP, 2013.",
    "Abadi": "M. Abadi et al. Deep learning with differential privacy. ACM CCS, 2016.",
    "Damaskinos": "G. Damaskinos, C. Mendler-Dünner, R. Guerraoui, N. Papandreou, T. Parnell. "
    "Differentially Private Stochastic Coordinate Descent. AAAI, 2021.",
    "Mangold": "P. Mangold, A. Bellet, J. Salmon, M. Tommasi. Differentially Private Coordinate "
    "Descent for Composite Empirical Risk Minimization. ICML, 2022.",
    "Wu": "X. Wu, F. Li, A. Kumar, K. Chaudhuri, S. Jha, J. Naughton. Bolt-on Differential Privacy "
    "for Scalable Stochastic Gradient Descent-based Analytics. ACM SIGMOD, 2017.",
    "Guo": "Y.-g. Wang, Z.-c. Guo. Differentially private SGD with random features. Applied "
    "Mathematics-A Journal of Chinese Universities 39(1), 2024.",
    "Amin": "K. Amin, M. Joseph, M. Ribero, S. Vassilvitskii. Easy Differentially Private Linear "
    "Regression. ICLR, 2023.",
    "Dick": "T. Dick, J. Gillenwater, M. Joseph. Better Private Linear Regression Through Better "
    "Private Feature Selection. NeurIPS, 2023.",
    "Tang": "S. Tang, S. Aydore, M. Kearns, S. Rho, A. Roth, Y. Wang, Y.-X. Wang, Z. S. Wu. "
    "Improved Differentially Private Regression via Gradient Boosting. 2023.",
    "Wang 2018": "Y.-X. Wang. Revisiting differentially private linear regression: optimal and "
    "adaptive prediction and estimation in unbounded domain. UAI, 2018.",
    "Dwork": "C. Dwork, K. Talwar, A. Thakurta, L. Zhang. Analyze Gauss: optimal bounds for "
    "privacy-preserving principal component analysis. STOC, 2014.",
    "Rahimi": "A. Rahimi, B. Recht. Random features for large-scale kernel machines. NeurIPS, "
    "2007.",
}


def citations(certificate: Certificate) -> Markup:
    """The method in the certificate's words, and references."""
    used = [full for word, full in REFERENCES.items() if word in certificate.paper]
    own = (
        "The privlearn developers. privlearn: linear and kernel models with a "
        f"differential-privacy guarantee that holds. Version {certificate.version}."
    )
    return group(
        tag("p", "Method: ", certificate.paper, "."),
        tag("ul", *(tag("li", one) for one in [own, *used, f"This page follows {REFERENCE}."])),
    )
