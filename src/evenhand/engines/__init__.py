"""The engines that answer a judge's requests: hosted models, unitxt engines, and judges without a model."""
