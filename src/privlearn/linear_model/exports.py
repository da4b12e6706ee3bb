"""What a fitted model can be turned into: a file, a page, scikit-learn, ONNX, SQL, a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["Exportable"]


class Exportable:
    """Adds `save` and exports to an estimator."""

    def to_dict(self) -> dict[str, Any]:
        """The fitted model as plain values, for JSON: coefficients, limits and certificate.

        Returns
        -------
        dict
            Numbers, texts, lists and dictionaries; `from_dict` reads them.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import Ridge
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = Ridge(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
        >>> bool((Ridge.from_dict(model.to_dict()).predict(X) == model.predict(X)).all())
        True
        """
        from privlearn.linear_model.saved import plain_values

        return plain_values(self._fitted())

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """The model that `to_dict` wrote; it predicts, and its certificate is there.

        Parameters
        ----------
        content : dict
            What `to_dict` gave, or JSON gave back.

        Returns
        -------
        estimator
            Fitted, with the parameters of the fit but for ledger, data set, seed and messages.
        """
        model = cls()
        from privlearn.linear_model.saved import fill

        fill(cast("PrivateEstimator", model), content)
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file of JSON, the certificate inside; `privlearn.load` reads.

        The file holds no code, `privlearn verify` checks its certificate, and ``privlearn predict``
        uses it where columns have names. A file that is there already is replaced as a whole.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        None
            The file is there, as a whole.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from privlearn import LogisticRegression, load
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = LogisticRegression(bounds_X=(0, 1)).fit(X, X[:, 0] > 0.5)
        >>> path = tempfile.mkdtemp() + "/model.json"
        >>> model.save(path)
        >>> load(path).privacy_.epsilon
        1.0
        """
        from privlearn.export.model_file import save

        save(self._fitted(), path)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        scores: Any = None,  # noqa: ANN401
        ledger: Any = None,  # noqa: ANN401
        dataset: str | None = None,
        decided_by: str | None = None,
        reference: Mapping[str, object] | None = None,
        ratios: bool = False,
    ) -> None:
        """Write a page about the model for people: one file of HTML that needs nothing else.

        What was learned, what that tells about one person in plain words and in those of NIST SP
        800-226, what the budget was spent on, what is assumed, and the certificate, which
        `privlearn verify` finds in it. Only what was declared or released is in it: it may be
        published with the model. A file that is there already is replaced as a whole.

        Parameters
        ----------
        path : str or path
            The file.
        title : str or None, default=None
            Of the page; None takes the name of the estimator.
        scores : Evaluation, dict or list of them or None, default=None
            What `privlearn.metrics.evaluate` returned, or its `to_dict`.
        ledger : Ledger, path or None, default=None
            Whose state is shown, without names of people who charged; None takes the model's own.
        dataset : str or None, default=None
            The data set in it; None takes the model's own.
        decided_by : str or None, default=None
            Who decided on epsilon, and why: a line for the page, of names and reasons only.
        reference : mapping or None, default=None
            From lists to a category each, relative to which the table is, as in `summary`.
        ratios : bool, default=False
            Whether the table has odds or rate ratios, as in `summary`.

        Returns
        -------
        None
            The file is there, as a whole.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from privlearn import LinearRegression
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
        >>> path = tempfile.mkdtemp() + "/model.html"
        >>> model.report(path, title="Generated numbers")
        >>> open(path).readline().strip()
        '<!DOCTYPE html>'
        """
        from privlearn._core.whole_file import write_whole
        from privlearn.export.report import Learned, page

        model = self._fitted()
        named = dataset if ledger is not None or dataset is not None else model.dataset
        own = model.ledger if hasattr(model.ledger, "history") else None  # others only charge
        if isinstance(model.ledger, str | os.PathLike):
            own = model.ledger
        book = own if ledger is None else ledger
        more = {"scores": scores, "ledger": book, "dataset": named, "decided_by": decided_by}
        learned = Learned.of(model, reference=reference, ratios=ratios)
        write_whole(path, page(learned, title=title, **more))

    def to_sklearn(self) -> BaseEstimator:
        """The fitted model in plain scikit-learn, with the clip inside: it needs privlearn no more.

        Models of numbers become a linear model of scikit-learn, behind a step that clips where
        ranges were estimated privately. Models with a schema become a pipeline for data frames,
        which needs pandas here; its columns hold numbers, dates, truth values and the texts of
        lists, and gaps are None or NaN (docs/export.md says what is read otherwise). Where the
        schema reads texts in a notation, a warning says which columns are to hold numbers or dates
        now. It can be pickled, and holds no certificate: keep `save` beside it.

        Returns
        -------
        estimator
            Of scikit-learn, fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import LinearRegression
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
        >>> bool(np.allclose(model.to_sklearn().predict(X), model.predict(X)))
        True
        """
        from privlearn.export.to_sklearn import to_sklearn

        return to_sklearn(self._fitted())

    def to_onnx(self) -> Any:  # noqa: ANN401
        """The fitted model as an ONNX graph, with the clip inside; needs ``privlearn[onnx]``.

        Models of numbers take one input, X, in double precision. Models with a schema take one
        input per column, of shape (n_rows, 1): doubles, with NaN for gaps; texts for lists and
        truth values, with "" for gaps; dates as days since 1970-01-01. The output is "prediction",
        and for classifiers "probabilities" or "scores" beside it. Where a row cannot be predicted
        these are NaN. The certificate is in the metadata.

        Returns
        -------
        onnx.ModelProto
            ``onnx.save(model.to_onnx(), "model.onnx")`` writes it.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import Ridge
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = Ridge(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
        >>> model.to_onnx().graph.output[0].name  # doctest: +SKIP
        'prediction'
        """
        from privlearn.export.to_onnx import to_onnx

        return to_onnx(self._fitted())

    def to_sql(
        self,
        table: str | Sequence[str],
        *,
        key: str | Sequence[str] = (),
        dialect: str = "standard",
        plain: str | Sequence[str] = (),
    ) -> str:
        """One SELECT that predicts where the rows are, with the clip inside.

        It has the column "prediction", and for classifiers "probability_..." or "score_..." of each
        class ("score" of the second for two). Rows that cannot be predicted have NULL. Names of
        columns are those of the data frame that the model was fitted to.

        Parameters
        ----------
        table : str or sequence of str
            The table, with the names of its schema and database before it, if needed:
            ``("main", "people")``. Names are quoted.
        key : str or sequence of str
            Columns of the table to show beside predictions, such as its key.
        dialect : {"standard", "sqlite"}
            How dates are read; without dates it makes no difference. "standard" is for DuckDB and
            PostgreSQL.
        plain : str or sequence of str
            Columns that the table holds as numbers or dates, though the schema reads texts of them
            in a notation or format ("1.234,50 €", 31/12/2020), as no database does. Without it a
            model with such columns is refused.

        Returns
        -------
        str
            The statement, without a semicolon.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from privlearn import LinearRegression
        >>> people = pd.DataFrame({"age": np.linspace(20, 70, 2_000), "pay": np.arange(2_000)})
        >>> model = LinearRegression(bounds_X={"age": (20, 70)}, bounds_y=(0, 2_000))
        >>> print(model.fit(people, "pay").to_sql("people", key="id").splitlines()[-1])
          FROM "people") AS privlearn_rows) AS privlearn_scores
        """
        from privlearn.export.to_sql import to_sql

        return to_sql(self._fitted(), table, key, dialect, plain)

    def coef_plot(self, *, ax: Axes | None = None, most: int = 30) -> Axes:
        """Draw the coefficients, with two deviations of the privacy noise where it is known.

        It needs ``privlearn[plot]``; `privlearn.plotting` has more pictures.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw; None makes a figure.
        most : int, default=30
            How many features to show; of more, those that stand out.

        Returns
        -------
        matplotlib.axes.Axes
            With one row per feature.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import LinearRegression
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
        >>> model.coef_plot()  # doctest: +SKIP
        """
        from privlearn.plotting import coefficients

        return coefficients(self._fitted(), ax=ax, most=most)

    def _fitted(self) -> PrivateEstimator:
        check_is_fitted(self)
        return cast("PrivateEstimator", self)
