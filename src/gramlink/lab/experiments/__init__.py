"""The paper's experiments and ours: each a figure or a table, measured by the code users run."""

from gramlink.lab.experiments.decisions import PADDING, POLICIES
from gramlink.lab.experiments.experiment import Experiment
from gramlink.lab.experiments.exposure import EXPOSURE
from gramlink.lab.experiments.grams import BASE_SIZE, GLOBAL_THRESHOLD
from gramlink.lab.experiments.lipschitz import COMPARISON, TIME
from gramlink.lab.experiments.mining import DATASETS, MINING_EPSILON, MINING_SIZE
from gramlink.lab.experiments.people import PERSONS
from gramlink.lab.experiments.printed import PRINTED
from gramlink.lab.experiments.privacy import EDITS, EPSILON
from gramlink.lab.experiments.rivals import RIVAL_TABLE

# in the order of the paper, then ours
EXPERIMENTS: dict[str, Experiment] = {
    one.name: one
    for one in (
        DATASETS, MINING_EPSILON, MINING_SIZE, GLOBAL_THRESHOLD, BASE_SIZE, EPSILON, EDITS, TIME,
        COMPARISON, PRINTED, POLICIES, PADDING, RIVAL_TABLE, PERSONS, EXPOSURE,
    )
}  # fmt: skip
