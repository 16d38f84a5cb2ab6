"""Attacks on what a bundle shows, which an owner runs on its own records before it sends them.

An attack goes from what the linkage unit sees, and what an attacker knows, to chances: how likely
each record is of each person in a register. That all of them fail proves nothing; `docs/veil.md`
has what is proved.

case          two owners' records, and what the unit sees of them under each encoding
seen          what the unit sees: codes of values, or pairs that share keys
known         what an attacker knows: the bases, the parities, a register
claims        whom an attacker takes each record for, and how many claims are right
scores        scores of values added up over fields
nearest       an attack: the nearest vectors, with the base known
alignment     an attack: what encoded names look like, learnt without base or key
frequencies   an attack: values as frequent as in the register
evidence      how likely pairs that share keys look as they do
components    attacks on shared keys: fingerprints, votes of neighbours, tags that are absent
weakened      a veil that is weak on purpose, which the attacks must break
made_up       a partner's records and strangers, made up from an owner's own
situation     a case with registers, from what an owner has at hand
audit         all attacks on all encodings, and what drives them
advice        what an owner can do about it
"""
