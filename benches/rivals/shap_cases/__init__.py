"""Cases of shap_tests.py, one file per library."""
