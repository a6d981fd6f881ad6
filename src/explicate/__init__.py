"""Explain tabular models with SOFI, PCFI, MISTIC and prototypes with alike parts."""

__version__ = "0.1.0"
