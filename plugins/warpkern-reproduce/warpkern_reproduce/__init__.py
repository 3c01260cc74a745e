"""Tables and figures of the papers behind warpkern, measured again.

An `Experiment` says what is measured and how it is drawn; what all share, the command and the
files that are written, is elsewhere. A new one is a file in ``experiments`` with a name
``EXPERIMENT`` in it, and a line in the list there.
"""

from ._experiment import Experiment, Result, Row, Settings, Table

__all__ = ["Experiment", "Result", "Row", "Settings", "Table"]
