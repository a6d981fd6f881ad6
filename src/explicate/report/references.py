"""How to cite each method."""

from __future__ import annotations

import pandas as pd

#: Method -> what to cite.
REFERENCES = {
    "SOFI": (
        "Grau, I., Nápoles, G. (2024). Sparseness-Optimized Feature Importance. Explainable Artificial Intelligence, "
        "xAI 2024. Communications in Computer and Information Science 2154, 393–415. Springer. "
        "doi:10.1007/978-3-031-63797-1_20"
    ),
    "PCFI": "Per Class Feature Importance for Classifiers based on Decision Tree Models. Software: Pcfi.",
    "MISTIC": (
        "BioModSquad (2026). MISTIC: Model Informed Feature Selection Through Importance and Contribution. "
        "Software: mistic-svm."
    ),
    "Prototypes, alike parts": (
        "Karolczak, J., Stefanowski, J. (2025). This part looks alike this: identifying important parts of explained "
        "instances and prototypes. arXiv:2505.05597"
    ),
    "SHAP (attributions)": (
        "Lundberg, S. M. et al. (2020). From local explanations to global understanding with explainable AI for trees. "
        "Nature Machine Intelligence 2, 56–67. doi:10.1038/s42256-019-0138-9"
    ),
}


def references_table() -> pd.DataFrame:
    """
    Return the references as a table: ``method``, ``cite``.

    Examples
    --------
    >>> references_table().columns.tolist()
    ['method', 'cite']
    """
    return pd.DataFrame(list(REFERENCES.items()), columns=["method", "cite"])
