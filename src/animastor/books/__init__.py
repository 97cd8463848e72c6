"""The content: what a book is, how sources are read into one, and what changed between two versions of it."""
