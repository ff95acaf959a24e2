"""The generated pages and tables of docs/: `pytest tests/test_docs.py --update-golden` writes them."""
