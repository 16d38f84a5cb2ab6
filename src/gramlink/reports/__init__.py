"""Reports: what a linkage did and found, as lines of text and as pages."""
