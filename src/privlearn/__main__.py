"""``python -m privlearn`` is the ``privlearn`` command."""

import sys

if __name__ == "__main__":
    from privlearn.cli import main

    sys.exit(main())
