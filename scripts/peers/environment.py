"""The peers' own Python environment, .venv/peers at the project's root. Standard library only."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import python_environment
import rows
from python_environment import EnvironmentFailure

FOLDER = ROOT / ".venv" / "peers"


def say(message):
    print(f"peers: {message}", file=sys.stderr, flush=True)


def python_with(names, may_install):
    """The interpreter that runs the peers of these names. What cannot be installed is said; such a peer will then skip its rows."""
    python = python_environment.interpreter(FOLDER, may_install, "peers")
    for name in names if may_install else ():
        cause = python_environment.install(python, rows.PEERS[name].packages, "peers")
        if cause:
            say(f"{name} will be skipped: {cause}")
    return python
