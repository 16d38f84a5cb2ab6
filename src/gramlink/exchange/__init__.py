"""A data owner's part in an exchange, over the linkage unit's server.

    join      this exchange's keys, and those of all owners
    consent   what is spent and sent, and to whom; remembered
    mine      paid for once, in the ledger
    share     to each other owner, sealed to its key
    gather    what the others mined: the projection
    embed     the bundle, sealed to the linkage unit's key
    send      piece by piece
    collect   the results, with the owner's own ids

Every step finds in the folder what it did before, so a command that was stopped can resume.
"""

from gramlink.exchange.part import Voice
from gramlink.exchange.participation import Choices, take_part

__all__ = ["Choices", "Voice", "take_part"]
