"""Wiring: one folder a stage; Kedro lives here and the science in the packages below."""
