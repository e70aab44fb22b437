"""Methods for tables that are linked by a key: persons are grouped by what all tables say of them."""
