"""
PCFI: which features matter to each class of a tree ensemble.

Examples
--------
A marker gives away 5 % of the rows, age tells the others apart. The overall importance is about the many:

>>> import numpy as np
>>> from sklearn.ensemble import RandomForestClassifier
>>> X = np.random.default_rng(0).normal(size=(2000, 2))
>>> y = np.where(X[:, 1] > 1.65, "rare", np.where(X[:, 0] > 0, "healthy", "ill"))
>>> forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
>>> result = per_class_importance(forest, feature_names=["age", "marker"])
>>> print(result.overall.round(1), result.rank("healthy")[0], result.rank("rare")[0])
[0.9 0.1] age marker
>>> print(result.summary())
leading feature of each class: healthy age, ill age, rare marker (20 trees, training rows)
  healthy (47% of training weight): age 0.94, marker 0.06
  ill (48% of training weight): age 0.93, marker 0.07
  rare (5% of training weight): marker 0.98, age 0.02
"""

from explicate.pcfi.importance import held_out_importance, per_class_importance
from explicate.pcfi.result import PerClassImportance

__all__ = ["PerClassImportance", "held_out_importance", "per_class_importance"]
