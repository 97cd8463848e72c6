"""What can go wrong with an artifact store on S3: the server, the credentials, an upload, an object, a local copy."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from shelves import BucketShelf

from animastor.engine.ports import ArtifactStoreUnavailableError
from animastor.engine.reasons import Reason
from animastor.storage import s3
from animastor.storage.bucket import bucket_of
from animastor.storage.copies import Copies
from animastor.storage.s3 import ObjectStore
from s3_server import Bucket, serving

BIG = b"0123456789abcdef" * (20 << 16)  # 20 MiB: three parts


@pytest.fixture
def shelf(bucket: Bucket, tmp_path: Path) -> BucketShelf:
    return BucketShelf(bucket, tmp_path / "copies")


def made(tmp_path: Path, data: bytes = b"a picture") -> Path:
    path = tmp_path / "made.bin"
    path.write_bytes(data)
    return path


async def test_a_server_that_is_away_is_unavailable_and_back_again_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "RETRIES", 1)
    with serving() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        bucket = server.bucket()
        shelf = BucketShelf(bucket, tmp_path / "copies")
        store = shelf.open(create=True)
        checksum, _ = await store.put(made(tmp_path), ".png")
        server.stop()
        assert await store.check() is Reason.ARTIFACT_STORE_UNAVAILABLE
        with pytest.raises(ArtifactStoreUnavailableError, match="does not answer"):
            await store.put(made(tmp_path, b"another"), ".png")
        with pytest.raises(ArtifactStoreUnavailableError, match="does not answer"):
            await shelf.open().missing([(checksum, ".png")])
        assert await store.path(checksum, ".png") is not None  # there is a copy
        server.start()
        bucket.make()  # it kept nothing: an empty bucket is not the store that it was
        assert await store.check() is Reason.ARTIFACT_STORE_UNAVAILABLE
        assert await shelf.open(create=True).check() is None
        assert (await store.put(made(tmp_path), ".png"))[0] == checksum


SECRET = "s3cr3t-that-nobody-may-read"
REFUSED = 403


@pytest.fixture
def refusing() -> Iterator[str]:
    """A server that knows nobody, and quotes the request in its answer, as servers do."""
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Refusing(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            body = (
                "<Error><Code>SignatureDoesNotMatch</Code><Message>wrong</Message>"
                f"<StringToSign>{self.headers['authorization']} {SECRET}</StringToSign></Error>"
            ).encode()
            self.send_response(REFUSED)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer  # noqa: N815 - their names

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_wrong_credentials_are_said_in_one_sentence_that_gives_nothing_away(
    refusing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", refusing)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "KEYTHATNOBODYMAYREAD")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    store = ObjectStore("s3://bucket", Copies(tmp_path / "copies", 1), create=True)
    assert await store.check() is Reason.ARTIFACT_STORE_UNAVAILABLE
    with pytest.raises(ArtifactStoreUnavailableError, match="refuses the credentials") as caught:
        await store.put(made(tmp_path), ".png")
    told = "".join(traceback.format_exception(caught.value)) + repr(store) + repr(vars(store))
    assert SECRET not in told
    assert "KEYTHATNOBODYMAYREAD" not in told


@pytest.mark.parametrize(
    "url", ["s3://key:secret-word@bucket/prefix", "s3://bucket?secret-word", "http://secret-word", "s3:///secret-word"]
)
def test_a_url_that_is_none_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError) as caught:
        bucket_of(url)
    assert "secret-word" not in str(caught.value)


async def test_an_upload_that_is_cut_in_the_middle_leaves_no_object(
    shelf: BucketShelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = shelf.open(create=True)
    source = made(tmp_path, BIG)
    whole = s3._exactly

    def cut(source: Path, checksum: str) -> Iterator[bytes]:
        for number, block in enumerate(whole(source, checksum)):
            if number == 15:  # the first part is on its way by then
                raise OSError(5, "Input/output error", str(source))
            yield block

    monkeypatch.setattr(s3, "_exactly", cut)
    with pytest.raises(OSError, match="Input/output"):
        await store.put(source, ".mp4")
    assert shelf.contents() == {}
    assert b"<Upload>" not in shelf.bucket.unfinished()
    monkeypatch.undo()


async def test_a_file_that_changes_while_it_is_stored_never_becomes_an_object(
    shelf: BucketShelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = shelf.open(create=True)
    source = made(tmp_path, BIG)
    whole = s3._exactly

    def changing(source: Path, checksum: str) -> Iterator[bytes]:
        with source.open("r+b") as file:
            file.write(b"other")
        return whole(source, checksum)

    monkeypatch.setattr(s3, "_exactly", changing)
    with pytest.raises(OSError, match="changed while"):
        await store.put(source, ".mp4")
    assert shelf.contents() == {}


async def test_a_process_that_dies_in_an_upload_leaves_no_object_and_the_next_one_uploads(
    shelf: BucketShelf, tmp_path: Path
) -> None:
    store = shelf.open(create=True)
    assert await store.check() is None
    source = made(tmp_path, BIG)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        f"""
import os
from pathlib import Path
from animastor.storage import s3
from animastor.storage.copies import Copies

def dying(source, checksum):
    for number, block in enumerate(s3._blocks(source)):
        if number == 15:
            os._exit(9)
        yield block

s3._exactly = dying
s3.ObjectStore({shelf.url!r}, Copies(Path({str(tmp_path / "other")!r}), 1 << 30))._put(Path({str(source)!r}), ".mp4")
""",
    )
    assert await process.wait() == 9
    assert shelf.contents() == {}
    checksum, _ = await store.put(source, ".mp4")
    assert shelf.contents() == {f"{checksum}.mp4": BIG}


async def test_an_object_with_other_bytes_is_handed_to_nobody(shelf: BucketShelf, tmp_path: Path) -> None:
    checksum, _ = await shelf.open(create=True).put(made(tmp_path), ".png")
    shelf.spoil(f"{checksum}.png", b"a pixture")
    other = shelf.open()
    assert await other.path(checksum, ".png") is None
    assert await other.whole(checksum, ".png") is False
    assert not list(shelf.copies.rglob("tmp/*"))


async def test_a_copy_that_has_rotted_is_fetched_again(shelf: BucketShelf, tmp_path: Path) -> None:
    store = shelf.open(create=True)
    checksum, _ = await store.put(made(tmp_path), ".png")
    copies = Copies(tmp_path / "kept", 1 << 30)
    found = await ObjectStore(shelf.url, copies).path(checksum, ".png")
    assert found is not None
    found.write_bytes(b"rot")
    again = await ObjectStore(shelf.url, Copies(tmp_path / "kept", 1 << 30)).path(checksum, ".png")
    assert again == found
    assert again.read_bytes() == b"a picture"


async def test_many_readers_of_one_artifact_fetch_it_once(shelf: BucketShelf, tmp_path: Path) -> None:
    checksum, _ = await shelf.open(create=True).put(made(tmp_path, BIG), ".mp4")
    other = shelf.open()
    found = await asyncio.gather(*(other.path(checksum, ".mp4") for _ in range(8)))
    assert len(set(found)) == 1
    assert len({path.stat().st_ino for path in found if path is not None}) == 1


def test_copies_that_were_used_longest_ago_go_first_and_what_was_handed_out_lately_stays(tmp_path: Path) -> None:
    now = [1_000_000.0]
    copies = Copies(tmp_path, 10_000, now=lambda: now[0])
    data = [bytes([number]) * 3000 for number in range(5)]
    sums = [sha256(each).hexdigest() for each in data]
    for number in range(3):
        copies.keep(sums[number], ".x", [data[number]])
        now[0] += 10
    now[0] += 7 * 3600
    assert copies.find(sums[0], ".x") is not None
    copies.keep(sums[3], ".x", [data[3]])  # one too many: of the old ones the first goes
    assert [copies.find(each, ".x") is not None for each in sums[:4]] == [True, False, True, True]
    copies.keep(sums[4], ".x", [data[4]])  # all others were just looked at
    assert [copies.find(each, ".x") is not None for each in sums] == [True, False, True, True, True]
