"""Mining: the frequent grams of each field, under differential privacy."""
