"""Python environments of the scripts' own below .venv/: made once, filled by pip. Standard library only."""
import pathlib
import subprocess
import sys

# Prints which of the packages named by its arguments are not there.
_MISSING = """
import importlib.metadata, sys
for name in sys.argv[1:]:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        print(name)
"""


class EnvironmentFailure(Exception):
    """No environment can be made; the message says why."""


def python_in(folder, packages, may_install, name):
    """The interpreter of the environment in `folder`, with `packages`. `name` stands before what is said on stderr."""
    python = interpreter(folder, may_install, name)
    cause = install(python, packages, name) if may_install else None
    if cause:
        raise EnvironmentFailure(f"{folder}: {cause}")
    return python


def interpreter(folder, may_make, name):
    """The interpreter of the environment in `folder`, which is made where it is missing."""
    python = pathlib.Path(folder) / "bin" / "python"
    if python.exists():
        return python
    if not may_make:
        raise EnvironmentFailure(f"{folder}: not there, and --no-install given")
    _say(name, f"making {folder}")
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], capture_output=True, text=True)
    if made.returncode:
        raise EnvironmentFailure(f"{folder}: {_cause(made.stdout + made.stderr)}")
    return python


def install(python, packages, name):
    """Installs those of `packages` that are missing; gives back why that failed, else None."""
    listed = subprocess.run([python, "-c", _MISSING, *packages], capture_output=True, text=True)
    missing = listed.stdout.split()
    if not missing:
        return None
    _say(name, f"installing {' '.join(missing)}")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(pip + missing, capture_output=True, text=True)
    return _cause(done.stderr) if done.returncode else None


def _say(name, message):
    print(f"{name}: {message}", file=sys.stderr, flush=True)


def _cause(text):
    """The first line that speaks of an error, else the last that says anything."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    return next((line for line in lines if line.startswith(("ERROR", "Error"))), lines[-1])
