"""What all microaggregation shares: a near-linear way for large tables, and the improvement of any groups."""
