"""The rivals, for comparison only: no user's linkage imports them."""
