"""`python -m dsconv` is the command `dsconv`."""

from dsconv._command import main

main()
