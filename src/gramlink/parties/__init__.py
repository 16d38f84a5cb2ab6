"""The parties: what each holds, checks and may do. No maths here."""
