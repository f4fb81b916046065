from inline_snapshot import snapshot

from amelia.plan.markdown import Code, Heading, Item, Paragraph, Row, parse, read_front_matter, split_lines


def test_blocks_carry_their_lines() -> None:
    text = "# Title\n\nText\nmore\n\n- [ ] **1. box**\n  lazy\n\n  ```py\n  x\n  ```\n  - [x] inner\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert parse(text).blocks == snapshot(
        [
            Heading(line=1, end_line=1, level=1, text="Title"),
            Paragraph(line=3, end_line=4, text="Text\nmore"),
            Item(line=6, end_line=13, depth=0, text="**1. box**\n  lazy", number=None, box=" "),
            Code(line=9, end_line=11, fence="```", info="py", closed=True),
            Item(line=12, end_line=13, depth=1, text="inner", number=None, box="x"),
            Row(line=14, end_line=14, cells=("a", "b"), head=True),
            Row(line=16, end_line=16, cells=("1", "2"), head=False),
        ]
    )


def test_a_rule_without_a_blank_line_before_it_makes_no_heading() -> None:
    assert parse("Expected: pass\n---\n\nNext").headings == []


def test_underlined_headings_are_headings() -> None:
    assert [(found.level, found.text) for found in parse("Big\n===\n\nSmall\n------\n").headings] == [
        (1, "Big"),
        (2, "Small"),
    ]


def test_headings_in_quotes_comments_and_code_are_none() -> None:
    text = "> # quoted\n\n<!--\n# hidden\n-->\n\n    # indented code\n\n~~~\n# fenced\n~~~\n\n# seen #\n"
    assert [found.text for found in parse(text).headings] == ["seen"]


def test_a_fence_knows_whether_it_is_closed() -> None:
    text = "````md\n```\n````\n\n```\nopen\n"
    assert [(block.line, block.end_line, block.closed) for block in parse(text).code] == [
        (1, 3, True),
        (5, 6, False),
    ]


def test_lines_end_as_in_commonmark() -> None:
    assert split_lines("a\r\nb\rc\nd") == ["a\r\n", "b\r", "c\n", "d"]
    assert split_lines("a\x0bb\u2028c\n") == ["a\x0bb\u2028c\n"]
    assert split_lines("") == []


def test_numbered_items_keep_their_number() -> None:
    assert [(item.number, item.text) for item in parse("3. three\n4) four\n").items] == [
        ("3", "three"),
        ("4", "four"),
    ]


def test_front_matter_is_read_and_skipped() -> None:
    assert read_front_matter(["---\n", "name: x\n", "---\n", "body\n"]) == ({"name": "x"}, 4)
    assert read_front_matter(["---\n", "a: [\n", "---\n"]) == ({}, 4)


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert read_front_matter(["---\n", "\n", "Text\n", "---\n"]) == ({}, 1)
    assert read_front_matter(["---\n", "a: 1\n"]) == ({}, 1)
    assert read_front_matter(["# x\n"]) == ({}, 1)
    assert read_front_matter([]) == ({}, 1)


def test_a_front_matter_far_too_long_is_skipped_unread() -> None:
    assert read_front_matter(["---\n", "a: " + "x" * 60_000 + "\n", "---\n", "body\n"]) == ({}, 4)
