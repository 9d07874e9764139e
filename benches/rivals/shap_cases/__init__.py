"""Cases of shap_tests.py, in one file per library."""
