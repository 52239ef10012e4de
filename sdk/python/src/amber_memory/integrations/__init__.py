"""Adapters for frameworks, one module for each. A module needs the package of its framework, and nothing else here does."""
