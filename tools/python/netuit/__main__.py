import sys

from netuit.cli import main

sys.exit(main())
