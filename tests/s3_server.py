"""A server that speaks S3, in a process of its own on a free loopback port; and a look behind it."""

from __future__ import annotations

import random
import secrets
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import obstore
from obstore.store import S3Store

SERVER = """
import sys
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=int(sys.argv[1]), verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@dataclass
class S3Server:
    """The process, and how to get at it. It keeps everything in its memory."""

    key: str = field(default_factory=lambda: f"KEY{secrets.token_hex(8)}")
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    port: int = 0
    _process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, again on the same port."""
        self.port = self.port or _free_port()
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SERVER, str(self.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def stop(self) -> None:
        """End it; what it held is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                assert stream is not None
                stream.close()
            self._process = None

    @property
    def environment(self) -> Mapping[str, str]:
        """What a program needs to use it."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def bucket(self) -> Bucket:
        """A new, empty bucket."""
        made = Bucket(self, f"bucket-{secrets.token_hex(6)}")
        made.make()
        return made


@dataclass(frozen=True)
class Bucket:
    """A bucket as somebody sees it who can do everything."""

    server: S3Server
    name: str

    @property
    def client(self) -> S3Store:
        """A client of its own."""
        environment = self.server.environment
        return S3Store(
            self.name,
            config={
                "endpoint": environment["AWS_ENDPOINT_URL"],
                "region": "us-east-1",
                "access_key_id": self.server.key,
                "secret_access_key": self.server.secret,
            },
            client_options={"allow_http": True},
        )

    def make(self) -> None:
        """Create it."""
        url = f"{self.server.environment['AWS_ENDPOINT_URL']}/{self.name}"
        with urllib.request.urlopen(urllib.request.Request(url, method="PUT")) as answer:
            assert answer.status == 200

    def names(self) -> list[str]:
        """All objects."""
        return [one["path"] for page in obstore.list(self.client) for one in page]

    def read(self, name: str) -> bytes:
        """The bytes of an object."""
        return bytes(obstore.get(self.client, name).bytes())

    def write(self, name: str, data: bytes) -> None:
        """Put other bytes there."""
        obstore.put(self.client, name, data)

    def remove(self, name: str) -> None:
        """Remove an object."""
        obstore.delete(self.client, name)

    def unfinished(self) -> bytes:
        """What the server says of uploads that were begun and not ended."""
        with urllib.request.urlopen(f"{self.server.environment['AWS_ENDPOINT_URL']}/{self.name}?uploads") as answer:
            found: bytes = answer.read()
            return found


def _free_port() -> int:
    """One that is still free when the server starts again: the system gives none of these to a connection."""
    while True:
        with socket.socket() as trying, suppress(OSError):
            trying.bind(("127.0.0.1", port := random.randrange(20_000, 32_000)))
            return port


@contextmanager
def serving() -> Iterator[S3Server]:
    """A running server."""
    server = S3Server()
    server.start()
    try:
        yield server
    finally:
        server.stop()
