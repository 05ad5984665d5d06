"""The prompts: one Markdown (Jinja) file a stage."""
