"""Run the project without the kedro command: ``python -m explicate --env wine``."""

import sys
from pathlib import Path

from kedro.framework.cli.utils import find_run_command
from kedro.framework.project import configure_project


def main() -> None:
    """Run as ``kedro run`` does, with the same arguments."""
    package = Path(__file__).parent.name
    configure_project(package)
    find_run_command(package)(standalone_mode=not hasattr(sys, "ps1"))


if __name__ == "__main__":
    main()
