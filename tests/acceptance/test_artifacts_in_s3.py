"""A book is made and exported with its artifacts in a bucket, by programs that know nothing but the settings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import obstore
import pytest
from place import Place
from program import run

from s3_server import Bucket, S3Server, serving

SECRET = "a-secret-that-is-written-nowhere"


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with serving() as running:
        running.secret = SECRET
        yield running


def _environment(bucket: Bucket) -> dict[str, str]:
    return {**bucket.server.environment, "ANIMASTOR_ARTIFACTS": f"s3://{bucket.name}/films"}


def _make(place: Place, env: dict[str, str], *more: str) -> str:
    """Make sound and pictures of the book; what it said."""
    ran = run(*place.making, "--media", "audio,image", *more, cwd=place.folder, env=env)
    assert ran.code == 0, ran.err
    return ran.out


def test_sound_is_made_into_a_bucket_and_exported_from_it_on_another_machine(place: Place, server: S3Server) -> None:
    bucket = server.bucket()
    env = _environment(bucket)
    _make(place, env)
    assert not (place.home / "artifacts").exists()
    checksums = _ready(place.home)
    assert {name.split("/")[-1].split(".")[0] for name in bucket.names() if name.count("/") == 2} >= checksums
    for copy in (place.home / "copies").glob("??/*"):  # another machine has none
        copy.unlink()
    book = place.out / "tiny.m4b"
    before = book.read_bytes()
    book.unlink()
    ran = run("export", "--audiobook", "--home", place.home, "--out", place.out, cwd=place.folder, env=env)
    assert ran.code == 0, ran.err
    assert len(book.read_bytes()) == len(before)
    assert "Nothing is left to do" in _make(place, env)
    assert SECRET.encode() not in b"".join(each.read_bytes() for each in place.home.rglob("*") if each.is_file())


def test_what_was_lost_or_spoiled_in_the_bucket_is_found_and_made_again(place: Place, server: S3Server) -> None:
    bucket = server.bucket()
    env = _environment(bucket)
    _make(place, env)
    sounds = [name for name in bucket.names() if name.endswith(".flac")]
    (lost,) = (name for name in sounds if name.split("/")[-1].split(".")[0] == sorted(_ready(place.home, "audio"))[0])
    whole = bucket.read(lost)
    bucket.write(lost, whole[:-1] + b"?")
    for copy in (place.home / "copies").glob("??/*"):
        copy.unlink()
    _make(place, env)
    assert bucket.read(lost) == whole  # the same bytes for the same input
    obstore.delete(bucket.client, lost)
    ran = run("doctor", "--home", place.home, cwd=place.folder, env=env)
    assert "finished parts" in ran.out, ran.err
    _make(place, env)
    assert bucket.read(lost) == whole


def test_a_bucket_that_is_not_there_is_one_sentence_and_nothing_is_lost(place: Place) -> None:
    with serving() as server:
        server.secret = SECRET
        bucket = server.bucket()
        env = _environment(bucket)
        _make(place, env)
    before = _ready(place.home)
    (place.book / "chapters" / "c1.json").write_text(
        (place.book / "chapters" / "c1.json").read_text().replace("El sol sale.", "El sol sale otra vez.")
    )
    ran = run(*place.making, "--media", "audio", cwd=place.folder, env=env)
    assert ran.code == 4
    assert f"The artifact store s3://{bucket.name}/films cannot be read" in ran.err
    assert SECRET not in ran.out + ran.err
    assert _ready(place.home) <= before


def test_a_wrong_address_is_one_sentence_that_repeats_no_secret(place: Place) -> None:
    env = {"ANIMASTOR_ARTIFACTS": f"s3://key:{SECRET}@bucket/films"}
    ran = run(*place.making, cwd=place.folder, env=env)
    assert ran.code == 2
    assert "ANIMASTOR_ARTIFACTS cannot be used: it should hold no credentials" in ran.err
    assert SECRET not in ran.out + ran.err


def _ready(home: Path, media: str = "") -> set[str]:
    """The checksums of what is READY."""
    database = sqlite3.connect(f"file:{home / 'animastor.db'}?mode=ro", uri=True)
    try:
        rows = database.execute(
            "SELECT artifact FROM asset WHERE state = 4 AND artifact <> '' AND (? = '' OR media = ?)", (media, media)
        )
        return {checksum for (checksum,) in rows}
    finally:
        database.close()
