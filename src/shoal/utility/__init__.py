"""What a release cost: information loss, each attribute before and after, associations before and after."""

from shoal.utility.tables.measure import Loss, Utility, measure

__all__ = ["Loss", "Utility", "measure"]
