"""The slope of scores on a predictor, with units of several items."""

import math

import numpy as np
import pytest
from scipy import stats

from tse_scorers.statistics.slope import clustered_slope


def test_a_slope_has_the_interval_of_others():
    """Standard errors are those of statsmodels. Degrees of freedom are for unequal shares of the units in the slope."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    x, units = rng.normal(size=60), np.repeat(np.arange(20), 3)
    y = 0.3 * x + rng.normal(size=20)[units] + rng.normal(size=60)
    found = clustered_slope(x, y, units)
    fitted = sm.OLS(y, sm.add_constant(x)).fit(cov_type="cluster", cov_kwds={"groups": units}, use_t=True)
    assert (found.slope, found.se) == pytest.approx((fitted.params[1], fitted.bse[1]))
    shares = np.bincount(units, (x - x.mean()) ** 2) / ((x - x.mean()) ** 2).sum()
    assert found.n_effective == pytest.approx(1 / (shares**2).sum())
    margin = stats.t.ppf(0.975, found.n_effective - 1) * found.se
    assert (found.ci_low, found.ci_high) == pytest.approx((found.slope - margin, found.slope + margin))
    assert found.ci_low < fitted.conf_int()[1][0] < fitted.conf_int()[1][1] < found.ci_high
    assert math.isnan(clustered_slope([1, 1, 1], [0, 1, 2], [0, 1, 2]).slope)
