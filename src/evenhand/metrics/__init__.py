"""The unitxt metrics."""
