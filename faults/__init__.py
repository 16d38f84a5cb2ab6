"""Faults: commands killed, disks full, clocks set back, and what must hold after each.

`make faults` runs it. It only uses what users have, the command line, and looks at the files that
are left. It needs Linux; without root it leaves out disks that are full or read-only, and says so.
"""
