"""Files written whole, locks, clocks and processes under limits: what every package may use."""
