"""EPUBs of many shapes: which chapters a listener gets, and what is read in them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from epub_making import Epub, link, nav, ncx, page, point

from animastor.books.importers import load
from animastor.books.model import Book, Chapter, SceneType

TEXT = "<p>It was a long way to the sea, and nobody knew the road. They went all the same.</p>"


def read(tmp_path: Path, epub: Epub) -> Book:
    return load(epub.write(tmp_path / "book.epub"))


def titles(book: Book) -> list[str]:
    return [chapter.title for chapter in book.chapters]


def said(chapter: Chapter) -> str:
    return " ".join(unit.text.replace("\n", " ") for scene in chapter.scenes for unit in scene.units)


def test_nested_navigation_makes_a_chapter_of_each_entry(tmp_path: Path) -> None:
    docs = {
        "p1.xhtml": page("<h1>Part One</h1>"),
        "c1.xhtml": page(f"<h2>Dawn</h2>{TEXT}"),
        "c2.xhtml": page(f"<h2>Noon</h2>{TEXT}"),
        "p2.xhtml": page("<h1>Part Two</h1>"),
        "c3.xhtml": page(f"<h2>Night</h2>{TEXT}"),
    }
    inner = link("c1.xhtml", "1. Dawn") + link("c2.xhtml", "2. Noon")
    toc = nav(link("p1.xhtml", "Part One", inner) + link("p2.xhtml", "Part Two", link("c3.xhtml", "3. Night")))
    book = read(tmp_path, Epub(docs, nav=toc))
    assert titles(book) == ["Part One", "1. Dawn", "2. Noon", "Part Two", "3. Night"]
    assert said(book.chapters[0]) == "Part One"
    assert book.chapters[0].scenes[0].type is SceneType.CHAPTER_INTRO


def test_hidden_entries_are_no_chapters_but_their_text_is_read(tmp_path: Path) -> None:
    docs = {"a.xhtml": page(f'<h1>One</h1>{TEXT}<h2 id="s">Section</h2>{TEXT}'), "b.xhtml": page(f"<h1>Two</h1>{TEXT}")}
    hidden = '<li><a href="a.xhtml">One</a><ol hidden="hidden"><li><a href="a.xhtml#s">Section</a></li></ol></li>'
    book = read(tmp_path, Epub(docs, nav=nav(hidden + link("b.xhtml", "Two"))))
    assert titles(book) == ["One", "Two"]
    assert "Section" in said(book.chapters[0])


def test_without_navigation_the_headings_are_the_chapters(tmp_path: Path) -> None:
    docs = {"a.xhtml": page(f"<h1>One</h1>{TEXT}<h2>Within</h2>{TEXT}"), "b.xhtml": page(f"<h1>Two</h1>{TEXT}")}
    assert titles(read(tmp_path, Epub(docs))) == ["One", "Two"]


def test_without_navigation_and_headings_each_document_is_a_chapter(tmp_path: Path) -> None:
    docs = {"a.xhtml": page(TEXT, title="Morning"), "b.xhtml": page(TEXT, title="Evening")}
    assert titles(read(tmp_path, Epub(docs))) == ["Morning", "Evening"]


def test_one_file_is_divided_at_its_fragments(tmp_path: Path) -> None:
    body = (
        f'<h1>A Book</h1><section id="one"><h2>One</h2>{TEXT}</section><section id="two"><h2>Two</h2>{TEXT}</section>'
    )
    toc = nav(link("all.xhtml#one", "One") + link("all.xhtml#two", "Two"))
    book = read(tmp_path, Epub({"all.xhtml": page(body)}, nav=toc))
    assert titles(book) == ["One", "Two"]
    assert said(book.chapters[0]).startswith("A Book One It was")


def test_a_fragment_behind_its_heading_takes_the_heading_along(tmp_path: Path) -> None:
    body = f'<h2>One</h2><p id="one">First. </p>{TEXT}<h2>Two</h2><p><a id="two"></a>Second.</p>{TEXT}'
    toc = nav(link("all.xhtml#one", "One") + link("all.xhtml#two", "Two"))
    book = read(tmp_path, Epub({"all.xhtml": page(body)}, nav=toc))
    assert [said(chapter)[:10] for chapter in book.chapters] == ["One First.", "Two Second"]


def test_one_file_without_navigation_is_divided_by_its_headings(tmp_path: Path) -> None:
    body = f"<h1>The Tale</h1><h2>One</h2>{TEXT}<h2>Two</h2>{TEXT}"
    assert titles(read(tmp_path, Epub({"all.xhtml": page(body)}))) == ["One", "Two"]


def test_a_chapter_split_over_files_is_one_chapter(tmp_path: Path) -> None:
    docs = {
        "c1a.xhtml": page(f"<h2>One</h2>{TEXT}"),
        "c1b.xhtml": page("<p>The road went on.</p>"),
        "c1c.xhtml": page("<h3>A rest</h3><p>They sat down.</p>"),
        "c2.xhtml": page(f"<h2>Two</h2>{TEXT}"),
    }
    book = read(tmp_path, Epub(docs, nav=nav(link("c1a.xhtml", "One") + link("c2.xhtml", "Two"))))
    assert titles(book) == ["One", "Two"]
    assert said(book.chapters[0]).endswith("The road went on. A rest They sat down.")


def test_a_document_that_navigation_forgot_is_a_chapter_when_it_begins_like_one(tmp_path: Path) -> None:
    docs = {name: page(f"<h2>{name[0].upper()}</h2>{TEXT}") for name in ("a.xhtml", "b.xhtml", "c.xhtml")}
    book = read(tmp_path, Epub(docs, nav=nav(link("a.xhtml", "A") + link("c.xhtml", "C"))))
    assert titles(book) == ["A", "B", "C"]


def test_front_matter_is_kept_and_the_navigation_page_is_not_read(tmp_path: Path) -> None:
    docs = {
        "cover.xhtml": page('<img src="c.png" alt="Cover"/>'),
        "title.xhtml": page("<h1>A Book</h1><p>by An Author</p>"),
        "copyright.xhtml": page("<p>All rights reserved.</p>"),
        "c1.xhtml": page(f"<h2>One</h2>{TEXT}"),
        "c2.xhtml": page(f"<h2>Two</h2>{TEXT}"),
    }
    toc = nav(link("c1.xhtml", "One") + link("c2.xhtml", "Two"))
    spine = ["cover.xhtml", "title.xhtml", "copyright.xhtml", "nav", "c1.xhtml", "c2.xhtml"]
    book = read(tmp_path, Epub(docs, nav=toc, spine=spine))
    assert titles(book) == ["A Book", "One", "Two"]
    assert said(book.chapters[0]) == "A Book by An Author All rights reserved."
    assert "Contents" not in " ".join(map(said, book.chapters))


def test_epub_2_is_divided_by_its_ncx(tmp_path: Path) -> None:
    docs = {
        "a.html": page(f"<p class='h'>Chapter I.</p><p class='h'>The Road</p>{TEXT}"),
        "b.html": page(f"<p>II</p>{TEXT}"),
    }
    toc = ncx(point("a.html", "Chapter I. The Road", point("b.html", "II")))
    book = read(tmp_path, Epub(docs, ncx=toc))
    assert titles(book) == ["Chapter I. The Road", "II"]
    assert [scene.type for scene in book.chapters[1].scenes] == [SceneType.CHAPTER_INTRO, SceneType.NARRATION]


def test_a_contents_page_of_epub_2_is_not_read(tmp_path: Path) -> None:
    links = "".join(f'<p><a href="{name}">{name}</a></p>' for name in ("a.html", "b.html"))
    docs = {
        "toc.html": page(f"<h1>To</h1>{links}"),
        "a.html": page(f"<h1>A</h1>{TEXT}"),
        "b.html": page(f"<h1>B</h1>{TEXT}"),
    }
    guide = '<guide><reference type="toc" href="toc.html"/></guide>'
    book = read(tmp_path, Epub(docs, ncx=ncx(point("a.html", "A") + point("b.html", "B")), guide=guide))
    assert titles(book) == ["A", "B"]


def test_notes_are_read_where_they_stand_and_their_marks_are_not(tmp_path: Path) -> None:
    body = (
        '<h1>One</h1><p>The sea<a epub:type="noteref" href="#n">1</a> was '
        '<span epub:type="pagebreak">12</span>calm.</p>'
        '<aside epub:type="footnote" id="n"><p>A small one.</p></aside><p>They slept.</p>'
    )
    book = read(tmp_path, Epub({"a.xhtml": page(body)}, nav=nav(link("a.xhtml", "One"))))
    assert said(book.chapters[0]) == "One The sea was calm. A small one. They slept."


def test_documents_beside_the_reading_order_are_not_read(tmp_path: Path) -> None:
    docs = {"a.xhtml": page(f"<h1>One</h1>{TEXT}"), "n.xhtml": page("<p>A note.</p>")}
    refs = '<itemref idref="a.xhtml"/><itemref idref="n.xhtml" linear="no"/>'
    assert "A note." not in said(read(tmp_path, Epub(docs, itemrefs=refs)).chapters[0])


def test_ruby_is_read_once_by_its_base_text(tmp_path: Path) -> None:
    body = "<h1>一</h1><p><ruby>山路<rp>(</rp><rt>やまみち</rt><rp>)</rp></ruby>を登りながら、こう考えた。</p>"
    book = read(tmp_path, Epub({"a.xhtml": page(body)}))
    assert said(book.chapters[0]) == "一 山路を登りながら、こう考えた。"


def test_a_stanza_keeps_its_lines_in_one_paragraph(tmp_path: Path) -> None:
    lines = [
        "Over the water and under the tree",
        "The moon went down to the edge of the sea",
        "And nobody",
        "Saw it fall.",
    ]
    body = "<h1>One</h1><div>" + "".join(f"<div>{line}</div>" for line in lines) + "</div>"
    book = read(tmp_path, Epub({"a.xhtml": page(body)}))
    assert book.chapters[0].scenes[1].units[0].text == "\n".join(lines)


def test_breaks_between_scenes_are_not_read(tmp_path: Path) -> None:
    body = f"<h1>One</h1>{TEXT}<hr/>{TEXT}<p>* * *</p>{TEXT}<p>❦</p>{TEXT}"
    book = read(tmp_path, Epub({"a.xhtml": page(body)}))
    assert len(book.chapters[0].scenes) == 5
    assert "*" not in said(book.chapters[0])


def test_a_document_that_is_not_well_formed_is_read_as_browsers_do(tmp_path: Path) -> None:
    text = "<h1>One</h1><p>It rained&nbsp;&mdash; hard<br>and long.<p>Then <i>sun."
    broken = f"<html><head><title/></head><body>{text}</body>"
    book = read(tmp_path, Epub({"a.xhtml": broken}))
    assert said(book.chapters[0]) == "One It rained\u00a0— hard and long. Then sun."


def test_a_document_in_a_declared_encoding_is_decoded(tmp_path: Path) -> None:
    text = page(f"<h1>Été</h1>{TEXT}").replace("utf-8", "iso-8859-1").encode("cp1252")
    assert titles(read(tmp_path, Epub({"a.xhtml": text}))) == ["Été"]


def test_a_label_in_another_script_gives_way_to_the_heading(tmp_path: Path) -> None:
    docs = {
        "a.xhtml": page("<h2>الفصل الثاني</h2><h1>ما هو؟</h1><p>نعم.</p>"),
        "b.xhtml": page("<h2>الثالث</h2><p>لا.</p>"),
    }
    toc = nav(link("a.xhtml", "Commencer") + link("b.xhtml", "Suite"))
    assert titles(read(tmp_path, Epub(docs, nav=toc))) == ["الفصل الثاني: ما هو؟", "الثالث"]


def test_metadata_says_title_author_language_and_identifier(tmp_path: Path) -> None:
    metadata = (
        '<dc:title id="s">A Tale of Roads</dc:title><dc:title id="t">The Sea</dc:title>'
        '<meta refines="#t" property="title-type">main</meta><dc:creator id="a">Ann Other</dc:creator>'
        '<dc:creator id="b">Bob Drawer</dc:creator><meta refines="#b" property="role">ill</meta>'
        '<dc:language>EN_gb</dc:language><dc:identifier>x</dc:identifier><dc:identifier id="uid">urn:1</dc:identifier>'
    )
    head = read(tmp_path, Epub({"a.xhtml": page(TEXT)}, metadata=metadata)).head
    assert (head.title, head.author, head.language, head.identifier) == ("The Sea", "Ann Other", "en-GB", "urn:1")
    assert head.book_id.startswith("the-sea-")


def test_the_cover_is_found_also_inside_a_drawing(tmp_path: Path) -> None:
    png = base64.b64encode(b"\x89PNG picture").decode()
    image = f'<image xlink:href="data:image/png;base64,{png}"/>'
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="x">{image}</svg>'
    item = '<item id="c" href="c.svg" media-type="image/svg+xml" properties="cover-image"/>'
    cover = read(tmp_path, Epub({"a.xhtml": page(TEXT)}, items=item, files={"OPS/c.svg": drawing})).cover
    assert cover is not None
    assert (cover.media_type, cover.data) == ("image/png", b"\x89PNG picture")


def test_an_epub_without_container_is_read_by_its_only_package(tmp_path: Path) -> None:
    assert titles(read(tmp_path, Epub({"a.xhtml": page(f"<h1>One</h1>{TEXT}")}, container=None))) == ["One"]


def test_obfuscated_fonts_are_no_protection(tmp_path: Path) -> None:
    encryption = (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
        '<e:EncryptedData><e:EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/><e:CipherData>'
        '<e:CipherReference URI="OPS/f.otf"/></e:CipherData></e:EncryptedData></encryption>'
    )
    epub = Epub({"a.xhtml": page(TEXT)}, files={"META-INF/encryption.xml": encryption})
    assert read(tmp_path, epub).chapters


@pytest.mark.parametrize("label", ["Start", ""])
def test_a_navigation_with_a_single_place_does_not_hide_the_headings(tmp_path: Path, label: str) -> None:
    body = f"<h1>One</h1>{TEXT}<h1>Two</h1>{TEXT}"
    assert titles(read(tmp_path, Epub({"a.xhtml": page(body)}, nav=nav(link("a.xhtml", label))))) == ["One", "Two"]
