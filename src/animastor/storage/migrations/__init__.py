"""The migrations of the database, each one step of the schema number."""
