"""The rivals, for comparison only: nothing that links for a user imports them."""
