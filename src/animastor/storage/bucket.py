"""The address of an artifact store that is no folder."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

SCHEME: Final = "s3://"


def bucket_of(url: str) -> tuple[str, str]:
    """(bucket, prefix) of `s3://bucket/prefix`. Raises `ValueError`, whose text repeats nothing of the URL."""
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None or parts.query:
        raise ValueError("should hold no credentials: they belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    if parts.scheme != "s3" or not parts.netloc:
        raise ValueError("should be s3://bucket/prefix")
    return parts.netloc, parts.path.strip("/")
