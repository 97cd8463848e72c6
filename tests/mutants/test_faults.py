"""Every fault still fits the program: one that does not says nothing. Who notices them: `make mutants`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .checking import SOURCE, TESTS, UnusableError, apply
from .faults import FAULTS
from .mutant import Mutant, fault


@pytest.mark.parametrize("one", FAULTS, ids=lambda one: one.name)
def test_a_fault_applies_and_the_tests_that_it_names_are_there(one: Mutant, tmp_path: Path) -> None:
    for file in {one.file, *(file for file, _, _ in one.also)}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / file, tmp_path / file)
    apply(one, tmp_path)
    for name in one.tests:
        file, _, test = name.partition("::")
        assert f"def {test.partition('[')[0]}" in (TESTS / file).read_text()


def test_a_fault_whose_text_is_not_there_once_is_refused(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text("a = 1\nb = 1\n")
    for text in ("= 1", "= 2"):
        with pytest.raises(UnusableError, match="holds"):
            apply(fault("none", "some.py", text, ""), tmp_path)


def test_no_two_faults_have_one_name() -> None:
    assert len({one.name for one in FAULTS}) == len(FAULTS)
