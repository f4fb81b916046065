"""The composition root: settings and files in, checked plans and driven runs out."""
