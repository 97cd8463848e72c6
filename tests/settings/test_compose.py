"""The compose file is one that can be started: it parses, names what exists, and gives each server a health check."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from animastor.commands.line import app
from animastor.config import Settings

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "compose.yaml").read_text(encoding="utf-8")
FILE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]
AWS = {"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}  # storage/s3.py
VARIABLE = re.compile(r"\$\{(\w+)(?::\?[^}]*)?\}")


def filled(value: str) -> str:
    """A value with the variables of `.env` in it."""
    return VARIABLE.sub("word", value)


def test_every_setting_that_it_names_exists_and_can_be_used() -> None:
    assert OURS == ["serve", "worker", "make"]
    for name in OURS:
        given = {key: filled(value) for key, value in SERVICES[name]["environment"].items()}
        ours = {key.removeprefix("ANIMASTOR_").lower(): value for key, value in given.items() if key not in AWS}
        assert ours.keys() <= Settings.model_fields.keys(), name
        assert Settings(**ours).distributed, name  # type: ignore[arg-type]
        assert given.keys() >= AWS, name


@pytest.mark.parametrize("name", OURS)
def test_every_command_and_option_that_it_names_exists(name: str) -> None:
    words = [*SERVICES[name].get("entrypoint", ["animastor"]), *SERVICES[name].get("command", [])]
    commands: Any = typer.main.get_command(app)
    command = commands.commands[words[1]]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words[2:] if word.startswith("-")} <= known | {"--help"}


def test_servers_tell_their_health_and_are_waited_for() -> None:
    servers = {name for name, service in SERVICES.items() if service.get("restart") == "unless-stopped"}
    assert servers == {"serve", "worker", "postgres", "valkey", "s3"}
    for name in servers:
        assert SERVICES[name]["healthcheck"]["test"][0] == "CMD", name
    for name in OURS:
        waits = {on: how["condition"] for on, how in SERVICES[name]["depends_on"].items()}
        assert waits == dict.fromkeys(("postgres", "valkey", "s3"), "service_healthy"), name
    listen = SERVICES["serve"]["command"][SERVICES["serve"]["command"].index("--listen") + 1]
    assert f"http://{listen}/readyz" in SERVICES["serve"]["healthcheck"]["test"][-1]


def test_there_are_two_replicas_and_the_coordination_store_evicts_nothing() -> None:
    assert SERVICES["serve"]["deploy"]["replicas"] == 2
    command = SERVICES["valkey"]["command"]
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"


def test_secrets_come_from_the_environment_file_and_each_is_in_its_example() -> None:
    example = (ROOT / "compose.env.example").read_text(encoding="utf-8")
    named = {line.partition("=")[0] for line in example.splitlines() if "=" in line}
    assert set(VARIABLE.findall(TEXT)) == named


def test_volumes_that_are_used_are_declared_and_what_the_image_copies_is_there() -> None:
    used = {one.split(":")[0] for service in SERVICES.values() for one in service.get("volumes", ())} - {"."}
    assert used == set(FILE["volumes"])
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    for names in copied:
        for name in names.split():
            assert (ROOT / name).exists(), name
            assert f"!{name}" in (ROOT / ".dockerignore").read_text(encoding="utf-8"), name


def test_the_page_for_operators_names_only_settings_that_exist_and_its_fast_profile_can_be_used() -> None:
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    named = set(re.findall(r"ANIMASTOR_([A-Z_]+)", page))
    assert {name.lower() for name in named} <= Settings.model_fields.keys()
    listed = re.search(r"recovers fast has.*?```\n(.*?)```", page, re.DOTALL)
    assert listed is not None
    fast = dict(line.removeprefix("ANIMASTOR_").lower().split("=") for line in listed[1].splitlines())
    settings = Settings(**fast)
    assert settings.silent_s + settings.keeper_s <= 8
