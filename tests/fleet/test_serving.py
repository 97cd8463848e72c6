"""Several processes on one PostgreSQL and one Valkey, as an operator starts and stops them."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from program import Started, until
from redis import Redis

from animastor.config import without_password
from animastor.storage.folder import FolderStore
from fleet import Fleet
from postgres_server import PostgresServer

TALE = Path(__file__).parents[2] / "examples" / "tale"
FAST = {  # how quickly what fell silent is noticed, here
    "ANIMASTOR_LEASE_TTL_S": "8",
    "ANIMASTOR_HEARTBEAT_S": "1",
    "ANIMASTOR_SILENT_S": "4",
    "ANIMASTOR_KEEPER_S": "1",
    "ANIMASTOR_TICK_S": "1",
}


def test_two_servers_make_the_sound_of_a_book_that_other_processes_bring_and_ask_for(fleet: Fleet) -> None:
    servers = [fleet.serve("--jobs", "1") for _ in range(2)]
    imported = fleet.run("import", TALE)
    assert imported.code == 0, imported.err
    made = fleet.run("make", TALE, "--media", "audio", "--out", fleet.folder / "out")
    assert made.code == 0, made.err
    assert [path.suffix for path in (fleet.folder / "out").iterdir() if path.suffix == ".m4b"] == [".m4b"]
    assert {state for (state,) in fleet.rows("SELECT state FROM asset WHERE media = 'audio'")} == {4}
    _nothing_was_made_twice(fleet)
    assert len({line["pid"] for line in fleet.logged("start")}) >= 2, "one of them did all the work"
    assert not any(server.ended() for server in servers)
    status = fleet.run("status")
    assert status.code == 0, status.err
    assert '"ready":' in status.out


def test_what_a_server_had_claimed_is_anothers_at_once_when_it_is_told_to_stop(fleet: Fleet) -> None:
    first = fleet.serve("--jobs", "1")
    making = fleet.asks()
    until(lambda: bool(fleet.logged("start")), "work")
    first.send(signal.SIGTERM)
    assert first.wait() == 0, first.err
    assert "Told to stop: what has been claimed is handed back." in first.err
    assert first.survivors() == []
    second = fleet.serve("--jobs", "2")
    assert making.wait() == 0, making.err
    attempts = fleet.rows("SELECT sum(attempts), sum(infra_attempts) FROM part")
    assert attempts == [(0, 0)], "a hand-back was counted"
    assert fleet.rows("SELECT count(*) FROM journal WHERE type IN ('SWEPT', 'PART_FAILED')") == [(0,)]
    second.send(signal.SIGINT)
    assert second.wait() == 0, second.err


def test_a_server_that_is_drained_finishes_what_runs_and_begins_nothing_more(fleet: Fleet) -> None:
    first = fleet.serve("--jobs", "1", "--drain")
    making = fleet.asks()
    until(lambda: bool(fleet.logged("start")), "work")
    first.send(signal.SIGTERM)
    assert first.wait() == 0, first.err
    assert len(fleet.logged("end")) == len(fleet.logged("start")), "it ended what it had begun"
    fleet.serve("--jobs", "2")
    assert making.wait() == 0, making.err
    _nothing_was_made_twice(fleet)


def test_workers_without_a_scheduler_do_the_work_of_one_that_decides(fleet: Fleet) -> None:
    fleet.serve("--jobs", "1")
    worker = fleet.serve("--no-scheduler", "--jobs", "2")
    making = fleet.asks()
    assert making.wait() == 0, making.err
    assert '"role":"worker"' in worker.out
    mine = {process.pid for process in worker.seen | set(worker.tree())}
    assert any(line["pid"] in mine for line in fleet.logged("start")), "the worker did nothing"
    _nothing_was_made_twice(fleet)


def test_a_server_is_ready_while_it_reaches_its_stores_and_goes_on_when_they_are_back(fleet: Fleet) -> None:
    server = fleet.serve("--listen", "127.0.0.1:0", **FAST)
    assert fleet.ready(server) == (200, {"database": "ok", "coordination": "ok", "artifacts": "ok"})
    fleet.valkey.stop()
    until(lambda: '"reason":"coordination_unavailable"' in server.out, "the alarm")
    status, told = fleet.ready(server)
    assert (status, told["database"]) == (503, "ok")
    fleet.valkey.start()
    making = fleet.asks("--media", "audio")  # who begins while a store is away says so and ends
    until(lambda: "answers again" in server.out, "the other alarm")
    until(lambda: fleet.ready(server)[0] == 200, "being ready")
    assert making.wait() == 0, making.err
    assert not server.ended()


def test_a_server_that_starts_before_its_stores_waits_for_them_and_says_for_which(fleet: Fleet) -> None:
    fleet.valkey.stop()
    server = fleet.start("serve", "--listen", "127.0.0.1:0", "--jobs", "1")
    server.until_said('"reason":"coordination_unavailable"')
    assert "waiting for it, 60 s at most." in server.out
    fleet.valkey.start()
    server.until_said('"event":"serving"')
    until(lambda: fleet.ready(server)[0] == 200, "being ready")
    server.send(signal.SIGTERM)
    assert server.wait() == 0, server.err


def test_a_server_whose_database_comes_late_is_alive_and_not_ready_meanwhile(fleet: Fleet) -> None:
    folder = fleet.valkey.socket.parent / "late"  # where the server's socket is, by another name that is not there yet
    (there,) = parse_qs(urlsplit(fleet.database).query)["host"]
    late = fleet.database.replace(urlsplit(fleet.database).query, f"host={folder}")
    server = fleet.start("serve", "--listen", "127.0.0.1:0", "--jobs", "1", ANIMASTOR_DATABASE_URL=late)
    server.until_said('"reason":"database_unavailable"')
    assert fleet.ready(server, "healthz") == (200, {"process": "ok"})
    status, told = fleet.ready(server)
    assert (status, set(told)) == (503, {"process"})
    folder.symlink_to(there)
    server.until_said('"event":"serving"')
    until(lambda: fleet.ready(server)[0] == 200, "being ready")


@pytest.mark.parametrize("columns", [60, 140])
def test_in_a_terminal_it_says_what_it_serves_and_ends_with_ctrl_c(fleet: Fleet, columns: int) -> None:
    arguments = ("serve", "--jobs", "1", "--home", fleet.folder / "home")
    with Started(arguments, fleet.folder, fleet.environment(), terminal=(columns, 40)) as server:
        server.until_said("Serving ")
        server.type("\x03")
        code = server.wait()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\^C", "", server.out).replace("\r", "")
    database, store = without_password(fleet.database), fleet.valkey.url
    stopped = "Stopped; what was not finished is others' work now."
    assert (code, " ".join(shown.split())) == (0, f"Serving {database} by {store}. {stopped}")
    assert server.err == "Interrupted: what has been claimed is handed back.\n"
    assert all(len(line) <= columns or " " not in line for line in shown.splitlines())


def test_a_server_that_is_told_to_stop_while_it_waits_ends(fleet: Fleet) -> None:
    fleet.valkey.stop()
    server = fleet.start("serve", "--jobs", "1")
    server.until_said('"event":"waiting"')
    server.send(signal.SIGTERM)
    assert server.wait() == 0, server.err
    assert server.out.splitlines()[-1].startswith('{"event":"done"')


@pytest.mark.parametrize(
    ("environment", "code", "reason"),
    [
        ({"ANIMASTOR_COORDINATION_URL": "redis://:hunter2@127.0.0.1:1/0"}, 4, "coordination_unavailable"),
        ({"ANIMASTOR_DATABASE_URL": "postgresql://ann:hunter2@127.0.0.1:1/none"}, 4, "database_unavailable"),
        ({"ANIMASTOR_DATABASE_URL": "mysql://ann:hunter2@127.0.0.1/none"}, 2, "setting_invalid"),
        ({"ANIMASTOR_DATABASE_URL": "postgresql://ann:hunter2#@127.0.0.1/none"}, 2, "setting_invalid"),
        ({"ANIMASTOR_COORDINATION_URL": ""}, 2, "setting_invalid"),
        ({"ANIMASTOR_ARTIFACTS": ""}, 2, "setting_invalid"),
    ],
)
def test_stores_that_cannot_be_used_are_named_in_one_line_without_their_passwords(
    fleet: Fleet, environment: dict[str, str], code: int, reason: str
) -> None:
    ran = fleet.run("serve", ANIMASTOR_START_WAIT_S="0", **environment)
    assert ran.code == code, ran.err
    assert len(ran.err.splitlines()) == 1, ran.err
    assert f'"reason":"{reason}"' in ran.out
    for said in (ran.out, ran.err, *(path.read_text() for path in fleet.folder.glob("home-*/animastor.log"))):
        assert "hunter2" not in said


def _nothing_was_made_twice(fleet: Fleet) -> None:
    hashes = [line["hash"] for line in fleet.logged("start")]
    assert len(set(hashes)) == len(hashes), "something was made twice"


def test_who_asks_where_nobody_works_is_told_so_and_goes_on_when_somebody_does(fleet: Fleet) -> None:
    making = fleet.asks("--media", "audio")
    making.until_said('"reason":"nobody_serves"')
    fleet.serve("--jobs", "1")
    assert making.wait() == 0, making.err


def test_a_machine_that_sees_another_folder_is_told_and_takes_no_work_from_the_others(fleet: Fleet) -> None:
    other = fleet.folder / "not-shared"
    FolderStore(other, create=True)
    fleet.serve("--jobs", "1")
    astray = fleet.serve("--jobs", "4", "--listen", "127.0.0.1:0", ANIMASTOR_ARTIFACTS=str(other))
    making = fleet.asks("--media", "audio")
    assert making.wait() == 0, making.err
    astray.until_said("is not the one that this database knows")
    status, told = fleet.ready(astray)
    assert status == 503
    assert "is not the one that this database knows" in told["artifacts"]
    assert list(other.glob("??/*")) == []
    _nothing_was_made_twice(fleet)


def test_doctor_tells_of_a_coordination_server_that_may_remove_what_is_no_cache(fleet: Fleet) -> None:
    fleet.serve("--jobs", "1")
    assert '"reason":"coordination_evicts"' not in fleet.run("doctor").out
    with Redis(unix_socket_path=str(fleet.valkey.socket)) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
    told = fleet.run("doctor").out
    assert "coordination: Valkey" in told
    assert '"reason":"coordination_evicts"' in told


def test_two_installations_on_one_coordination_server_do_not_know_of_each_other(
    fleet: Fleet, postgres: PostgresServer, tmp_path: Path
) -> None:
    with Fleet(postgres.database("beside"), fleet.valkey, tmp_path / "beside") as beside:
        beside.folder.mkdir()
        for one in (fleet, beside):
            one.serve("--jobs", "1")
        making = [one.asks("--media", "audio") for one in (fleet, beside)]
        for each in making:
            assert each.wait() == 0, each.err
        for one in (fleet, beside):
            _nothing_was_made_twice(one)
            assert one.rows("SELECT count(*) FROM dispatch WHERE outcome <> 'success'") == [(0,)]
            assert one.rows("SELECT count(*) FROM journal WHERE type = 'PART_REFUSED'") == [(0,)]
