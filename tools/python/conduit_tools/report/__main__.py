import sys

from conduit_tools.report import main

sys.exit(main())
