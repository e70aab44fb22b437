"""What a release cost: information loss, each attribute before and after, associations before and after."""
