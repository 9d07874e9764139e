"""Cases of shap_tests.py, a file for each library."""
