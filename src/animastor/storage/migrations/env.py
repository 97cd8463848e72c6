"""Alembic's entry: migrates the connection that it is given (see `animastor.storage.versions.migrate`)."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], transaction_per_migration=False)
context.run_migrations()
