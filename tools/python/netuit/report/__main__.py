import sys

from netuit.report import main

sys.exit(main())
