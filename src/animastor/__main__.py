"""`python -m animastor` is the command line."""

from animastor.cli import main

main()
