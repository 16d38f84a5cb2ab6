"""The paper's experiments and ours: each a figure or a table, measured by the code users run."""

from gramlink.experiments.deciding import PADDING, POLICIES
from gramlink.experiments.experiment import Experiment
from gramlink.experiments.grams import BASE_SIZE, GLOBAL_THRESHOLD
from gramlink.experiments.lipschitz import COMPARISON, TIME
from gramlink.experiments.mining import DATASETS, MINING_EPSILON, MINING_SIZE
from gramlink.experiments.people import PERSONS
from gramlink.experiments.printed import PRINTED
from gramlink.experiments.privacy import EDITS, EPSILON
from gramlink.experiments.rivals import RIVAL_TABLE

# in the order of the paper, then ours
EXPERIMENTS: dict[str, Experiment] = {
    one.name: one
    for one in (
        DATASETS, MINING_EPSILON, MINING_SIZE, GLOBAL_THRESHOLD, BASE_SIZE, EPSILON, EDITS, TIME,
        COMPARISON, PRINTED, POLICIES, PADDING, RIVAL_TABLE, PERSONS,
    )
}  # fmt: skip
