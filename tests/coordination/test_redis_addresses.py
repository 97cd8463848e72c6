"""Where the store may be: a cluster of several servers, behind TLS and a password, in a numbered database."""

from __future__ import annotations

import asyncio
import datetime
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from coordination_world import AUDIO, NO_WAIT, job, worker

from coordination_servers import NoServerError, missing, serving

pytest.importorskip("redis.asyncio", reason="needs the extra `redis`")

from redis import Redis

from animastor.clock import SystemClock
from animastor.coordination import Limits
from animastor.coordination.redis import RedisCoordination
from animastor.coordination.redis.coordination import ROOT
from animastor.engine.ports import Candidate, CoordinationUnavailableError, Ended, Selection, Verdict
from animastor.protocol import AssetId, BookKey, DispatchId

pytestmark = pytest.mark.skipif(bool(missing("valkey")), reason="see test_real_servers.py")

SPEAKER = worker("w1")
THIRD = 5462  # slots of each server of a cluster


@asynccontextmanager
async def store_at(url: str) -> AsyncIterator[RedisCoordination]:
    """A store at this URL that has no era window."""
    store = RedisCoordination.connect(url, SystemClock(), Limits())
    store._window = 0.0
    try:
        yield store
    finally:
        await store.close()


async def live_a_life(store: RedisCoordination) -> None:
    """Every kind of step once."""
    asset, dispatch = AssetId(1), DispatchId("d1")
    await store.set_era(1)
    await store.serving()
    assert (await store.admit([Candidate(asset, BookKey(1), AUDIO, dispatch)]))[0].granted
    await store.enqueue([job(1, "d1")])
    (claim,) = await store.claim(SPEAKER, {"speech": 1}, NO_WAIT)
    assert len(await store.jobs(Selection())) == len(await store.leases(Selection())) == 1
    assert (await store.settle([Verdict(claim.job.job_id, claim.claim_no, SPEAKER.key)]))[0].present
    assert await store.release([Ended(asset, dispatch)]) == [True]
    await store.sweep()


# --- a cluster ---


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def three_servers() -> Iterator[list[Redis]]:
    """In cluster mode, with a third of the slots each; clients of them. Raises `NoServerError`."""
    ports = [(free_port(), free_port()) for _ in range(3)]
    with ExitStack() as running:
        for port, bus in ports:
            settings = ("--cluster-enabled", "yes", "--bind", "127.0.0.1", "--cluster-port", str(bus))
            running.enter_context(serving("valkey", *settings, "--port", str(port)))
        nodes = [running.enter_context(Redis("127.0.0.1", port)) for port, _ in ports]
        for at, node in enumerate(nodes):
            node.execute_command("CLUSTER ADDSLOTSRANGE", THIRD * at, min(THIRD * (at + 1) - 1, 16383))
            node.execute_command("CLUSTER MEET", "127.0.0.1", *ports[0])
        yield nodes


@pytest.fixture(scope="module")
def cluster() -> Iterator[list[Redis]]:
    with ExitStack() as running:
        nodes: list[Redis] = []
        for _ in range(2):  # somebody else may take a port meanwhile
            with suppress(NoServerError):
                nodes = nodes or running.enter_context(three_servers())
        yield nodes or running.enter_context(three_servers())


def knows_all(node: Redis) -> bool:
    """Whether it serves, and knows the three parts."""
    told: Any = node.execute_command("CLUSTER INFO")
    slots: Any = node.execute_command("CLUSTER SLOTS")
    return told["cluster_state"] == "ok" and len(slots) == 3


async def formed(nodes: list[Redis]) -> None:
    """Return when each of them knows who has which slot."""
    async with asyncio.timeout(60):
        while not all(knows_all(node) for node in nodes):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.02)


def url_of(node: Redis) -> str:
    return f"redis+cluster://127.0.0.1:{node.get_connection_kwargs()['port']}"


def slot_of_the_root(nodes: list[Redis]) -> int:
    return int(nodes[0].execute_command("CLUSTER KEYSLOT", ROOT))


async def test_a_cluster_accepts_every_script_whichever_server_is_named(cluster: list[Redis]):
    await formed(cluster)
    for node in cluster:
        async with store_at(url_of(node)) as store:
            await live_a_life(store)
            cluster[slot_of_the_root(cluster) // THIRD].flushall()


async def test_a_slot_that_moved_to_another_server_is_found_there(cluster: list[Redis]):
    await formed(cluster)
    slot = slot_of_the_root(cluster)
    owner = cluster[slot // THIRD]
    other, third = (node for node in cluster if node is not owner)

    def move(to: Redis) -> None:
        for node in (to, owner, other, third):
            node.execute_command("CLUSTER SETSLOT", slot, "NODE", to.execute_command("CLUSTER MYID"))

    async with store_at(url_of(cluster[0])) as store:
        assert await store.era() is None  # now the client knows where the slot is
        try:
            move(other)
            await live_a_life(store)
            assert other.dbsize() > 0
            assert owner.dbsize() == 0
        finally:
            other.flushall()
            move(owner)


async def test_a_wake_is_heard_across_the_servers_of_a_cluster(cluster: list[Redis]):
    await formed(cluster)
    heard = asyncio.Event()
    async with store_at(url_of(cluster[0])) as here, store_at(url_of(cluster[1])) as there:
        there.listen(heard.set)
        await asyncio.wait_for(heard.wait(), 30)  # it listens
        heard.clear()
        here.wake()
        await asyncio.wait_for(heard.wait(), 30)


# --- one server ---


async def test_a_wrong_password_is_told_and_the_right_one_opens():
    with serving("valkey", "--requirepass", "a secret") as path:
        async with store_at(f"unix://:wrong@{path}") as store:
            with pytest.raises(CoordinationUnavailableError, match=r"(?i)password"):
                await store.era()
        async with store_at(f"unix://:a%20secret@{path}") as store:
            await live_a_life(store)


async def test_numbered_databases_of_one_server_are_stores_of_their_own():
    with serving("valkey", "--databases", "4") as path:
        async with store_at(f"unix://{path}?db=3") as third, store_at(f"unix://{path}?db=2") as second:
            await live_a_life(third)
            assert await second.era() is None


def certificate(folder: Path) -> tuple[Path, Path]:
    """Of 127.0.0.1, signed by itself: the certificate and its key."""
    x509 = pytest.importorskip("cryptography.x509", reason="makes a certificate")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    began = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
        .not_valid_before(began)
        .not_valid_after(began + datetime.timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    public_file, private_file = folder / "certificate.pem", folder / "key.pem"
    public_file.write_bytes(made.public_bytes(pem))
    private_file.write_bytes(private.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return public_file, private_file


@asynccontextmanager
async def behind_tls(path: Path, public: Path, private: Path) -> AsyncIterator[int]:
    """A port that speaks TLS and passes on to a socket: the wheel's server may be built without."""

    passed: set[asyncio.Task[Any]] = set()

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):  # the other side went away
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
        target.close()

    async def passing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passed.add(asyncio.current_task())  # type: ignore[arg-type]
        inner, outer = await asyncio.open_unix_connection(str(path))
        await asyncio.gather(copy(reader, outer), copy(inner, writer))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    proxy = await asyncio.start_server(passing, "127.0.0.1", 0, ssl=context)
    try:
        yield proxy.sockets[0].getsockname()[1]
    finally:
        proxy.close()
        await asyncio.gather(*passed, return_exceptions=True)  # the clients are closed: it hears of that


async def test_tls_with_a_certificate_that_is_trusted_opens_and_another_does_not(tmp_path: Path, servers: Any):
    public, private = certificate(tmp_path)
    path = servers.socket("valkey")
    with Redis(unix_socket_path=str(path)) as client:
        client.flushall()
    async with behind_tls(path, public, private) as port:
        async with store_at(f"rediss://127.0.0.1:{port}?ssl_ca_certs={public}") as store:
            await live_a_life(store)
        async with store_at(f"rediss://127.0.0.1:{port}") as store:
            with pytest.raises(CoordinationUnavailableError, match=r"(?i)certificate"):
                await store.era()
