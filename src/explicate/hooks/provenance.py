"""Where a run comes from: its tags, and the process it belongs to."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata as packages
from pathlib import Path
from typing import Any

#: Packages whose versions decide a result.
VERSIONS = ("explicate", "kedro", "mlflow", "numpy", "pandas", "scikit-learn", "numba", "shap", "kmedoids")
PROCESS_TAG = "kedro.process"


def run_tags(run_params: Mapping[str, Any]) -> dict[str, str]:
    """
    Describe a run: environment, pipelines, command line, runner, process, versions, user and git commit.

    Parameters
    ----------
    run_params : mapping
        What Kedro tells hooks of a run.

    Returns
    -------
    dict
        Tag -> text.
    """
    tags = {
        "kedro.env": run_params.get("env") or "base",
        "kedro.pipelines": ", ".join(run_params.get("pipeline_names") or []) or "__default__",
        "kedro.command": command_line(sys.argv),
        "kedro.runner": _runner_name(run_params.get("runner")),
        PROCESS_TAG: process_mark(os.getpid()),
        "version.python": platform.python_version(),
        "mlflow.source.name": command_line(sys.argv),
        "mlflow.source.type": "PROJECT",
        **{f"version.{package}": version for package, version in installed(VERSIONS).items()},
    }
    with contextlib.suppress(OSError, KeyError):  # a user id without a name, as in some containers
        tags["mlflow.user"] = getpass.getuser()
    commit = _git(run_params["project_path"], "rev-parse", "HEAD")
    if commit:
        changed = _git(run_params["project_path"], "status", "--porcelain", "--untracked-files=no")
        tags |= {"mlflow.source.git.commit": commit, "git.uncommitted_changes": str(bool(changed)).lower()}
    return tags


def installed(names: Iterable[str]) -> dict[str, str]:
    """
    Return the versions of those packages that are installed.

    Examples
    --------
    >>> sorted(installed(["numpy", "no-such-package"]))
    ['numpy']
    """
    found = {}
    for name in names:
        try:
            found[name] = packages.version(name)
        except packages.PackageNotFoundError:
            continue
    return found


def command_line(arguments: list[str]) -> str:
    """
    Return a command as a person types it, quoted for a shell.

    Examples
    --------
    >>> command_line(["/usr/bin/kedro", "run", "--params", "a=x y"])
    "kedro run --params 'a=x y'"
    >>> command_line(["/site/kedro/__main__.py", "run"])
    'python -m kedro run'
    """
    program = Path(arguments[0])
    if program.name == "__main__.py":
        start = ["python", "-m", program.parent.name]
    else:  # Kedro's own __main__ calls itself "python -m kedro"
        start = arguments[0].split() if arguments[0].startswith("python -m ") else [program.name]
    return shlex.join([*start, *arguments[1:]])


def process_mark(pid: int) -> str:
    """
    Return what identifies a process: host, id, and the start time the kernel counts where it tells (Linux).

    The start time tells a process from a later one that was given the same id, which containers do all the time.

    Examples
    --------
    >>> process_mark(os.getpid()).startswith(f"{socket.gethostname()}:{os.getpid()}")
    True
    """
    try:
        started = ":" + Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        started = ""
    return f"{socket.gethostname()}:{pid}{started}"


def process_is_gone(mark: str) -> bool:
    """
    Tell whether the marked process ran on this machine and runs no more.

    Parameters
    ----------
    mark : str
        What `process_mark` returned in that process.

    Examples
    --------
    >>> process_is_gone(process_mark(os.getpid())), process_is_gone("another-host:1")
    (False, False)
    """
    host, _, identity = mark.partition(":")
    pid, _, started = identity.partition(":")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    if started:
        return process_mark(int(pid)) != mark
    if sys.platform == "win32":  # os.kill would end the process there instead of asking for it
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _runner_name(runner: Any) -> str:
    """Find the class name in what Kedro hands over: a name, a runner, or a runner's repr."""
    found = re.search(r"\w+Runner", str(runner))
    return found.group() if found else "SequentialRunner"


def _git(project: str, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(project), *arguments], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
