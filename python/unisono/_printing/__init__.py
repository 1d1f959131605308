"""How arrays and numbers print."""
