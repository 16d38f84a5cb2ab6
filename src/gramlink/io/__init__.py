"""Files written whole, locks and clocks: what every package may use."""
