"""Steering: unfinished requests are paused, resumed, given another priority, or told where the reader stands.

A small transaction changes the requests; what follows for their assets is found by the sweep (`sweeping`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from animastor.engine.ports import Scope, ScopeKind, Steer
from animastor.engine.reasons import JournalType, Reason
from animastor.engine.states import RequestState
from animastor.storage import journal
from animastor.storage.locking import lock_book, lock_request
from animastor.storage.requests import ScopeError, scope_keys
from animastor.storage.windows import Standing, placed, stand, standings


def steer(connection: Connection, of: Steer) -> list[int]:
    """Steer unfinished requests of a book; those that changed. Raises `ScopeError` for a scene that is not there."""
    lock_book(connection, of.book_key)
    position, now = (_scene(connection, of.book_key, scope) for scope in (of.position, of.now))
    chosen = [one for one in standings(connection, of.book_key) if of.requests is None or one in of.requests]
    for request_id in chosen:
        lock_request(connection, request_id)
    stood = standings(connection, of.book_key)
    changed = {}
    for request_id in chosen:
        row, was = stood.get(request_id, (None, None))
        if was is not None and (turned := _turned(connection, of, row, was, position, now)) != was:
            changed[request_id] = turned
    stand(connection, changed)
    told = [(None, None, journal.details(book=of.book_key, request=one, **_told(of))) for one in changed]
    journal.record(connection, JournalType.STEERED, None, _why(of), told)
    return list(changed)


def _scene(connection: Connection, book_key: int, scope: Scope | None) -> int:
    if scope is None:
        return 0
    if scope.kind is not ScopeKind.SCENE:
        raise ScopeError("a reader stands at a scene")
    return scope_keys(connection, book_key, scope)[1]


def _turned(connection: Connection, of: Steer, row: Any, was: Standing, position: int, now: int) -> Standing:
    state = was.state
    if of.paused and state != RequestState.PAUSED:
        state = RequestState.PAUSED.value
    elif of.paused is False and state == RequestState.PAUSED:
        state = RequestState.PREPARING.value  # entering goes on at its cursor
    ahead = was.ahead if of.ahead is None else of.ahead
    turned = replace(
        was,
        state=state,
        priority=was.priority if of.priority is None else of.priority,
        ahead=ahead,
        now_scene=now or was.now_scene,
        position_scene=position or was.position_scene,
    )
    if position or ahead != was.ahead:
        reach, place, horizon = placed(connection, of.book_key, row, ahead, turned.position_scene)
        turned = replace(turned, reach=reach, position=place, horizon=horizon)
    return turned


def _why(of: Steer) -> Reason:
    if of.paused is not None:
        return Reason.PAUSED if of.paused else Reason.RESUMED
    return Reason.PRIORITY if of.priority is not None or of.now is not None else Reason.POSITION


def _told(of: Steer) -> dict[str, Any]:
    told: dict[str, Any] = {"priority": of.priority, "ahead": of.ahead}
    for name, scope in (("position", of.position), ("now", of.now)):
        told[name] = None if scope is None else f"{scope.chapter_id}/{scope.scene_id}"
    return {name: value for name, value in told.items() if value is not None}
