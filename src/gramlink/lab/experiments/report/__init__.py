"""What a run leaves behind: pictures, tables, a page for a browser and one for the docs."""
