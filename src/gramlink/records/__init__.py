"""An owner's records, from a file to coded columns, and the schema that says how."""
