"""Why a source is no book: one exception, its stable reasons, one clear sentence.

Nothing here decides what is wrong; the importers do. A message names the file and the field or place in it.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Stable codes; they appear in results, the API and exit messages. A code is never reused for something else."""

    # the source as a whole
    SOURCE_MISSING = "source_missing"
    SOURCE_UNREADABLE = "source_unreadable"
    SOURCE_UNKNOWN = "source_unknown"
    SOURCE_EMPTY = "source_empty"
    SOURCE_TOO_LARGE = "source_too_large"
    BOOK_WITHOUT_TEXT = "book_without_text"
    PICTURES_ONLY = "pictures_only"
    # characters
    ENCODING_BROKEN = "encoding_broken"
    ENCODING_UNKNOWN = "encoding_unknown"
    NOT_TEXT = "not_text"
    # zip
    ZIP_INVALID = "zip_invalid"
    ZIP_DAMAGED = "zip_damaged"
    ZIP_SLIP = "zip_slip"
    ZIP_BOMB = "zip_bomb"
    ZIP_ENCRYPTED = "zip_encrypted"
    ZIP_DUPLICATE = "zip_duplicate"
    ZIP_TOO_MANY_FILES = "zip_too_many_files"
    FILE_TOO_LARGE = "file_too_large"
    PATH_ESCAPES = "path_escapes"
    # vbook
    FILE_MISSING = "file_missing"
    JSON_BROKEN = "json_broken"
    FIELD_TYPE = "field_type"
    VALUE_UNKNOWN = "value_unknown"
    ID_MISSING = "id_missing"
    ID_INVALID = "id_invalid"
    ID_DUPLICATE = "id_duplicate"
    ORDER_MISSING = "order_missing"
    ORDER_EMPTY = "order_empty"
    ORDER_REPEATS = "order_repeats"
    CHAPTER_FILE_MISSING = "chapter_file_missing"
    CHAPTER_MISMATCH = "chapter_mismatch"
    TARGET_EXISTS = "target_exists"
    # EPUB
    CONTAINER_MISSING = "container_missing"
    CONTAINER_BROKEN = "container_broken"
    PACKAGE_MISSING = "package_missing"
    PACKAGE_BROKEN = "package_broken"
    SPINE_MISSING = "spine_missing"
    SPINE_EMPTY = "spine_empty"
    SPINE_REPEATS = "spine_repeats"
    SPINE_UNKNOWN_ITEM = "spine_unknown_item"
    FALLBACK_CYCLE = "fallback_cycle"
    DOCUMENT_MISSING = "document_missing"
    XML_ENTITIES = "xml_entities"
    DRM = "drm"


class BookError(Exception):
    """Raised when a source cannot be read as a book, or a book cannot be written.

    `reason` is for programs and stays; `message` is one sentence for a person: which file, which field, what is wrong.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
