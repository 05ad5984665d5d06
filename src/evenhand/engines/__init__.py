"""What answers a judge's requests: hosted models, unitxt engines, and judges without a model."""
