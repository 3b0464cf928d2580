"""Subject-verb agreement: TSE, EW and MW (Newman et al. 2021)."""

from ..options import Declared

SUITE = Declared(__name__, "agreement", "suite:AgreementSuite", "options:AgreementOptions", 1)
