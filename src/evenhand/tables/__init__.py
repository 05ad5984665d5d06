"""Judging Hugging Face data sets without a recipe, and votes already recorded: frozen result tables."""
