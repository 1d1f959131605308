"""Dtypes: objects, promotion and limits, and abstract kinds."""
