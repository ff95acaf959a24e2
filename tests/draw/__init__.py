"""Pictures of layouts."""
