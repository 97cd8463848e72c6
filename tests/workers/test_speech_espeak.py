"""Other languages, by the library of eSpeak NG and by a program that the user has."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from speech_kit import made, order_of, seconds

from animastor.protocol import FailureType
from animastor.workers.backend import BackendError
from animastor.workers.speech import speak
from animastor.workers.speech.espeak import _resampled
from animastor.workers.speech.japanese import in_kana

TEXTS = {
    "de": "Der alte Mann ging langsam über die Brücke.",
    "fr": "Le vieil homme traversa lentement le pont.",
    "ja": "山路を登りながら、こう考えた。",
    "ar": "يعتبر السرطان من أكثر الأمراض انتشارا.",
    "zh": "老人慢慢地走过桥。",
    "pt-BR": "O velho atravessou a ponte.",
}


@pytest.mark.parametrize(("language", "text"), TEXTS.items())
def test_each_language_is_spoken_by_a_voice_of_its_own(language: str, text: str, tmp_path: Path) -> None:
    order = order_of(text, language=language)
    assert order.structure["profile"][0] == "espeak"
    sound = made(order, tmp_path)
    assert 1.0 < seconds(sound) < 6.0
    assert 0.05 < np.abs(sound).max() <= 0.98


def test_the_same_order_gives_the_same_bits_whatever_was_spoken_before(tmp_path: Path) -> None:
    order = order_of(TEXTS["de"], language="de")
    first = made(order, tmp_path)
    made(order_of(TEXTS["fr"], language="fr", voice="wren"), tmp_path)
    assert np.array_equal(first, made(order, tmp_path))


def test_characters_differ_in_sound(tmp_path: Path) -> None:
    sounds = [made(order_of(TEXTS["de"], language="de", voice=voice), tmp_path) for voice in ("oak", "silver", "wren")]
    brightness = [float(np.abs(np.diff(sound)).mean() / np.abs(sound).mean()) for sound in sounds]
    assert brightness == sorted(brightness)
    assert brightness[2] > 1.1 * brightness[0]


def test_a_language_without_a_voice_is_lost_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="no voice for 'tlh'") as caught:
        speak(order_of("nuqneH", language="tlh"), tmp_path, lambda _: None)
    assert caught.value.type is FailureType.PERMANENT


def test_japanese_is_read_in_syllables() -> None:
    assert in_kana("彼は本を読む。") == "カレワ ホンオ ヨム。"
    assert in_kana("コーヒーへ。") == "コーヒーエ。"


def test_resampling_keeps_a_tone_a_tone() -> None:
    tone = (20_000 * np.sin(2 * np.pi * 1000 * np.arange(22_050) / 22_050)).astype(np.int16)
    moved = _resampled(tone, 24_000 / 22_050)
    expected = 20_000 / 32_768 * np.sin(2 * np.pi * 1000 * np.arange(24_000) / 24_000)
    assert np.abs(moved - expected)[100:-100].max() < 1e-3


def test_piper_that_is_not_installed_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANIMASTOR_PIPER", str(tmp_path / "nothing"))
    with pytest.raises(BackendError, match="install Piper") as caught:
        speak(order_of("Hallo.", language="de", profile="piper"), tmp_path, lambda _: None)
    assert caught.value.type is FailureType.MISCONFIGURED


def test_piper_is_run_with_the_voice_of_the_language(piper: Path, tmp_path: Path) -> None:
    sound = made(order_of("Hallo, wie geht es dir heute?", language="de", profile="piper"), tmp_path)
    assert (piper / "said").read_text(encoding="utf-8") == "Hallo, wie geht es dir heute?\n"
    assert "de_DE-thorsten-low.onnx" in (piper / "asked").read_text(encoding="utf-8")
    assert seconds(sound) > 0.9


def test_piper_without_a_voice_of_the_language_is_misconfigured(piper: Path, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="no Piper voice for 'fr'") as caught:
        speak(order_of("Bonjour.", language="fr", profile="piper"), tmp_path, lambda _: None)
    assert caught.value.type is FailureType.MISCONFIGURED


def test_piper_that_fails_says_its_last_words(piper: Path, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="out of voices") as caught:
        speak(order_of("Fehler.", language="de", profile="piper"), tmp_path, lambda _: None)
    assert caught.value.type is FailureType.TRANSIENT


@pytest.fixture
def piper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with Piper's command line, which writes a second of a tone."""
    folder = tmp_path / "installed"
    folder.mkdir()
    program = folder / "piper"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import array, pathlib, sys, wave\n"
        "said = sys.stdin.read()\n"
        "if said.startswith('Fehler'): sys.exit('out of voices')\n"
        f"pathlib.Path({str(folder / 'said')!r}).write_text(said)\n"
        f"pathlib.Path({str(folder / 'asked')!r}).write_text(' '.join(sys.argv))\n"
        "with wave.open(sys.argv[sys.argv.index('--output_file') + 1], 'wb') as out:\n"
        "    out.setnchannels(1); out.setsampwidth(2); out.setframerate(22050)\n"
        "    out.writeframes(array.array('h', [8000 * (1 - 2 * (n // 50 % 2)) for n in range(22050)]).tobytes())\n",
        encoding="utf-8",
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (folder / "de_DE-thorsten-low.onnx").touch()
    monkeypatch.setenv("ANIMASTOR_PIPER", str(program))
    monkeypatch.setenv("ANIMASTOR_PIPER_VOICES", str(folder))
    assert os.access(program, os.X_OK)
    return folder
