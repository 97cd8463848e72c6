"""Backups: the database at one point in a portable form, and the artifacts that it names (docs/recovery.md).

`tables` reads and writes the database, `manifest` says what a backup holds, `folder` and `archive` are the two places
that one may be in, `carrying` moves artifacts between them and a store.
"""
