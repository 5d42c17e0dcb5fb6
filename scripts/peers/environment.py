"""The peers' own Python environment, .venv/peers at the project's root: made once, filled by pip. Standard library only."""
import pathlib
import subprocess
import sys

import rows

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv" / "peers"
PYTHON = FOLDER / "bin" / "python"
# Prints which of the packages named by its arguments are not there.
MISSING = """
import importlib.metadata, sys
for name in sys.argv[1:]:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        print(name)
"""


class EnvironmentFailure(Exception):
    """No environment can be made; the message says why."""


def say(message):
    print(f"peers: {message}", file=sys.stderr, flush=True)


def python_with(names, may_install):
    """The interpreter that runs the peers of these names, their packages installed as far as they can be."""
    if not PYTHON.exists():
        if not may_install:
            raise EnvironmentFailure(f"{FOLDER}: not there, and --no-install given")
        say(f"making {FOLDER}")
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], capture_output=True, text=True)
        if made.returncode:
            raise EnvironmentFailure(f"{FOLDER}: {_cause(made.stdout + made.stderr)}")
    if may_install:
        for name in names:
            _install(name)
    return PYTHON


def _install(name):
    """Installs what a peer misses. What cannot be had is said; the peer will then skip its rows."""
    listed = subprocess.run([PYTHON, "-c", MISSING, *rows.PEERS[name].packages], capture_output=True, text=True)
    missing = listed.stdout.split()
    if not missing:
        return
    say(f"installing {' '.join(missing)} for {name}")
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(pip + missing, capture_output=True, text=True)
    if done.returncode:
        say(f"{name} will be skipped: {_cause(done.stderr)}")


def _cause(text):
    """The first line that speaks of an error, else the last that says anything."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    return next((line for line in lines if line.startswith(("ERROR", "Error"))), lines[-1])
