use proptest::prelude::*;

use super::*;

/// What is left is written as it was, but for blanks.
#[test]
fn harmless_sheets_keep_their_effect() {
    for (sheet, kept) in [
        ("a{color:red;}\n", "a{color:red;}\n"),
        (":root { --x: 1px; --Y-z: #fff }", ":root{--x:1px;--Y-z:#fff;}\n"),
        (":root { --empty:; --blank: ; }", ":root{--empty: ;--blank: ;}\n"),
        ("a { color: var(--x, #FFF) }", "a{color:var(--x, #FFF);}\n"),
        ("a, b > c + d ~ e f{top:0}", "a, b > c + d ~ e f{top:0;}\n"),
        ("a:hover,\nb::before { content: \"→ \" }", "a:hover, b::before{content:\"→ \";}\n"),
        (
            ".bar::after { content: attr(data-day) ' up' }",
            ".bar::after{content:attr(data-day) \" up\";}\n",
        ),
        ("li::marker { content: counter(n) '.' }", "li::marker{content:counter(n) \".\";}\n"),
        (
            "@media (max-width: 600px) { main { padding: 0 } a { top: 0 } }",
            "@media (max-width: 600px){main{padding:0;}a{top:0;}}\n",
        ),
        (
            "@media screen and (prefers-color-scheme: dark), print { body { color: #eee } }",
            "@media screen and (prefers-color-scheme: dark), print{body{color:#eee;}}\n",
        ),
        (
            "@media (400px <= width < 900px) { a { top: 0 } }",
            "@media (400px <= width < 900px){a{top:0;}}\n",
        ),
        ("@media (width<9px){a{top:0}}", "@media (width< 9px){a{top:0;}}\n"),
        ("@media (aspect-ratio: 16/9){a{top:0}}", "@media (aspect-ratio: 16/9){a{top:0;}}\n"),
        (
            "@supports (display: grid) and (not (display: inline-grid)) { a { top: 0 } }",
            "@supports (display: grid) and (not (display: inline-grid)){a{top:0;}}\n",
        ),
        (
            "@supports selector(:focus-visible > a) { a { top: 0 } }",
            "@supports selector(:focus-visible > a){a{top:0;}}\n",
        ),
        (
            "a { background: linear-gradient(to right, red 10%, rgb(0 0 0 / .5)) }",
            "a{background:linear-gradient(to right, red 10%, rgb(0 0 0 / .5));}\n",
        ),
        (
            "a { width: calc(100% - 2 * var(--gap) + 1e3px) !important }",
            "a{width:calc(100% - 2 * var(--gap) + 1e3px) !important;}\n",
        ),
        ("a { margin: -0.5em +1px 0.1234567890px }", "a{margin:-0.5em +1px 0.1234567890px;}\n"),
        (
            "a { transform: translateX(1px) rotate(45deg) }",
            "a{transform:translatex(1px) rotate(45deg);}\n",
        ),
        (
            "a { font: 700 1rem/1.5 'Fira Sans', serif }",
            "a{font:700 1rem/1.5 \"Fira Sans\", serif;}\n",
        ),
        (
            "a { grid-template: [full-start] 1fr / minmax(0, 1fr) }",
            "a{grid-template:[full-start] 1fr / minmax(0, 1fr);}\n",
        ),
        (
            "tr:nth-child(2n + 1):not(.x, [hidden]){top:0}",
            "tr:nth-child(2n + 1):not(.x, [hidden]){top:0;}\n",
        ),
        ("li:nth-child(-n+3 of .a){top:0}", "li:nth-child(-n+3 of .a){top:0;}\n"),
        ("a[href^=\"https:\" i]{top:0}", "a[href^=\"https:\" i]{top:0;}\n"),
        (".md\\:flex{top:0}", ".md\\:flex{top:0;}\n"),
        ("#\\31 23{top:0}", "#\\31 23{top:0;}\n"),
        (
            ".card { top: 0; &:hover { left: 0 } > b { top: 1px } @media print { top: 2px } }",
            ".card{top:0;&:hover{left:0;}> b{top:1px;}@media print{top:2px;}}\n",
        ),
        ("a { COLOR: Red }", "a{color:Red;}\n"),
        (
            ".overlay { position: fixed; inset: 0; z-index: 2147483648 }",
            ".overlay{position:fixed;inset:0;z-index:2147483648;}\n",
        ),
        ("/* a note */ a { /* and one */ top: 0 /* here */ }", "a{top:0;}\n"),
        ("a/**/b{top:0}", "a/**/b{top:0;}\n"),
        ("é, 日本 { top: 0 }", "é, 日本{top:0;}\n"),
        ("a{top:0}b{left:0}", "a{top:0;}\nb{left:0;}\n"),
    ] {
        assert_eq!(clean(sheet), kept, "{sheet}");
        assert_eq!(clean(kept), kept, "again: {sheet}");
    }
}

/// Every sheet is followed by a rule that must survive, and only what is given stands before it.
#[test]
fn hostile_sheets_lose_what_is_hostile_and_nothing_else() {
    for (sheet, kept) in [
        ("@import 'https://e.example/a.css';", ""),
        ("@import url(https://e.example/a.css);", ""),
        ("@\\69mport 'https://e.example/a.css';", ""),
        ("@\\000069 mport 'https://e.example/a.css';", ""),
        ("@IMPORT\t'//e.example';", ""),
        ("@charset 'utf-7';", ""),
        ("@charset \"x\"; @import 'y';", ""),
        ("@namespace svg url(http://e.example);", ""),
        ("@font-face { font-family: x; src: url(//e.example/f) }", ""),
        ("@font-face { font-family: x; src: local(x) }", ""),
        ("@property --x { syntax: '<url>'; inherits: true; initial-value: url(//e) }", ""),
        ("@counter-style x { symbols: url(//e.example) }", ""),
        ("@page { background: url(//e.example) }", ""),
        ("@document url(http://e.example) { a { top: 0 } }", ""),
        ("@layer x { a { background: url(//e) } }", ""),
        ("@keyframes x { to { background: url(//e) } }", ""),
        ("@media print { @import 'x'; a { background: url(//e) } }", ""),
        ("@media url(//e) { a { top: 0 } }", ""),
        ("@media </style> { a { top: 0 } }", "@media < /style>{a{top:0;}}\n"),
        ("@supports (background: url(//e)) { a { top: 0 } }", ""),
        ("@supports selector(url(//e)) { a { top: 0 } }", ""),
        ("a { background: url(//e.example) }", ""),
        ("a { background: url( '//e.example' ) }", ""),
        ("a { background: \\75rl(//e.example) }", ""),
        ("a { background: \\000075 \\72 l('//e.example') }", ""),
        ("a { background: u\\rl(//e.example) }", ""),
        ("a { background: URL(//e.example) }", ""),
        ("a { background: uRl('//e.example') }", ""),
        ("a { background: src('//e.example') }", ""),
        ("a { background: image('//e.example') }", ""),
        ("a { background: image-set('//e.example' 1x) }", ""),
        ("a { background: -webkit-image-set('//e.example' 1x) }", ""),
        ("a { background: im\\61ge-set('//e.example' 1x) }", ""),
        ("a { background: cross-fade(url(//e), red) }", ""),
        ("a { background: -webkit-cross-fade('//e', red) }", ""),
        ("a { background: element(#x) }", ""),
        ("a { background: -moz-element(#x) }", ""),
        ("a { background: paint(x) }", ""),
        ("a { background: attr(data-x) }", ""),
        ("a { background: attr(data-x type(<url>)) }", ""),
        ("a::after { content: attr(href url) }", ""),
        ("a::after { content: url(//e) }", ""),
        ("a::after { content: counter(attr(href)) }", ""),
        ("a { color: red; background: url(//e); top: 0 }", "a{color:red;top:0;}\n"),
        ("a { --x: url(//e); top: 0 }", "a{top:0;}\n"),
        ("a { --x: var(--y, url(//e)) }", ""),
        ("a { --x: { top: url(//e) } }", ""),
        ("a { background: linear-gradient(red, url(//e)) }", ""),
        ("a { cursor: url(//e), auto }", ""),
        ("a { filter: url(#x) }", ""),
        ("a { mask: url(//e) }", ""),
        ("a { width: expression(alert(1)) }", ""),
        ("a { width: ex/**/pression(alert(1)) }", ""),
        ("a { width: e\\78pression(alert(1)) }", ""),
        ("a { behavior: none }", ""),
        ("a { be\\68 avior: none }", ""),
        ("a { -ms-behavior: none }", ""),
        ("a { -moz-binding: none }", ""),
        ("a { -o-link: 'javascript:alert(1)' }", ""),
        ("a { filter: progid:DXImageTransform.Microsoft.AlphaImageLoader(src='//e') }", ""),
        ("a { -ms-filter: 'progid:x' }", ""),
        ("a { background: javascript:alert(1) }", ""),
        ("a { _behavior: none; *width: 0; }", ""),
        ("input[value^=a] { background: url(//e/a) }", ""),
        ("input[value^='a' i]:hover { list-style-image: url('//e/a'); }", ""),
        ("</style><script>alert(1)</script> a { top: 0 }", ""),
        ("<!-- a { top: 0 } -->", "a{top:0;}\n"),
        ("a { top: 0 } </style>{}", "a{top:0;}\n"),
        (
            "a::after { content: '</style><script>' }",
            "a::after{content:\"\\3c /style>\\3c script>\";}\n",
        ),
        ("a::after { content: '<!-- --> <?x' }", "a::after{content:\"\\3c !-- --> \\3c ?x\";}\n"),
        ("a::after { content: '\\3c/style>' }", "a::after{content:\"\\3c /style>\";}\n"),
        (".\\3c \\2f style{top:0}", ".\\3c \\/style{top:0;}\n"),
        ("[a='</style>']{top:0}", "[a=\"\\3c /style>\"]{top:0;}\n"),
        ("a { --\\3c x: 0 }", "a{--\\3c x:0;}\n"),
        (".\\-->a{top:0}", ""),
        ("a { font-family: '\\0' }", "a{font-family:\"\u{fffd}\";}\n"),
        ("a\0b{top:0}", "a\u{fffd}b{top:0;}\n"),
        ("a { color: red\0 }", "a{color:red\u{fffd};}\n"),
        ("a { color: \0url(//e) }", ""),
        ("a { top: 1\\65 1px }", ""),
        ("a { content: 'x\n background: url(//e) }", ""),
        ("a::after { content: \"a\\\nb\" }", "a::after{content:\"ab\";}\n"),
        ("} a { top: 0 }", ""),
        ("; a { top: 0 }", ""),
        ("{ top: 0 }", ""),
        ("a { { top: 0 } }", ""),
        ("a { top: 0 } b", "a{top:0;}\n"),
        ("a { color: ] }", ""),
        ("a { color: @import }", ""),
        ("--x:hover { top: 0 }", ""),
        ("a { b: c { background: url(//e) } }", ""),
        ("a:host(x) { top: 0 }", ""),
        ("a(b) { top: 0 }", ""),
    ] {
        let survivor = "z{top:1px;}\n";
        // What is not closed ends at a `}` or `;` of ours; a rule without a block takes it along.
        let whole = format!("{sheet}\n;z{{}}\n{survivor}");
        let cleaned = clean(&whole);
        assert_eq!(cleaned, format!("{kept}{survivor}"), "{sheet}");
        assert_harmless(&cleaned);
    }
}

#[test]
fn what_is_not_closed_is_closed() {
    for (sheet, kept) in [
        ("a{top:0", "a{top:0;}\n"),
        ("@media print{a{top:0", "@media print{a{top:0;}}\n"),
        ("a::after{content:\"x", "a::after{content:\"x\";}\n"),
        ("a::after{content:'x\\", "a::after{content:\"x\";}\n"),
        ("a{width:calc(1px + (2px", "a{width:calc(1px + (2px));}\n"),
        ("a[b=\"c", ""),
        ("a{top:0}/* never", "a{top:0;}\n"),
        ("a{background:url(x", ""),
        ("", ""),
        ("\u{feff}", ""),
    ] {
        assert_eq!(clean(sheet), kept, "{sheet}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    for open in ["(", "[", "{", "a{", "a{b:calc(", ":not(", "@media x{", "a:is(", "--a:{", "a:b{"] {
        for prefix in ["", "a{b:", "a"] {
            let deep = format!("{prefix}{}", open.repeat(10_000 / open.len()));
            assert_bounded(&deep);
        }
    }
    assert_bounded(&"a{b:c}".repeat(1_666));
    assert_bounded(&"\0{b:c}".repeat(1_600));
    assert_bounded(&format!("a{{b:'{}'}}", "<".repeat(9_990)));
    assert_bounded(&format!("a{{b:'{}'}}", "𝄞".repeat(9_990)));
    assert!(clean(&format!("a{{b:'{}'}}", "x".repeat(9_990))).len() > 9_990);
}

fn assert_bounded(sheet: &str) {
    let cleaned = clean(sheet);
    assert!(cleaned.len() <= sheet.len() * 2 && cleaned.len() <= 40 << 10);
    assert_eq!(clean(&cleaned), cleaned);
}

/// Judged by the text alone, as a careless reader would.
fn assert_harmless(cleaned: &str) {
    let lower = cleaned.to_ascii_lowercase();
    for never in
        ["</", "<!", "<?", "<s", "\0", "url(", "@import", "expression(", "image-set(", "src("]
    {
        assert!(!lower.contains(never), "{never} in {cleaned}");
    }
    let at_rules = lower.matches('@').count();
    let known = lower.matches("@media ").count() + lower.matches("@supports ").count();
    assert_eq!(at_rules, known, "{cleaned}");
}

proptest! {
    #[test]
    fn what_was_cleaned_is_clean(sheet in "\\PC{0,200}") {
        let cleaned = clean(&sheet);
        prop_assert_eq!(clean(&cleaned), cleaned);
    }

    #[test]
    fn no_arrangement_of_pieces_brings_anything_back(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..24)
    ) {
        let sheet = pieces.concat();
        let cleaned = clean(&sheet);
        assert_harmless(&cleaned);
        prop_assert!(cleaned.len() <= sheet.len() * 2);
        prop_assert_eq!(clean(&cleaned), cleaned);
    }
}

const PIECES: [&str; 74] = [
    "a",
    "b",
    "--x",
    "--",
    "-",
    "\\-",
    ".",
    "#",
    "*",
    "&",
    ">",
    "+",
    "~",
    "|",
    "=",
    "^=",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "{",
    "}",
    "{",
    "}",
    "{",
    "}",
    ":",
    ":",
    ":",
    ";",
    ";",
    ",",
    "!",
    "!important",
    "<",
    "<=",
    "</style",
    "<!--",
    "-->",
    "/*",
    "*/",
    "/**/",
    "/",
    " ",
    " ",
    "\n",
    "\t",
    "'",
    "\"",
    "\\",
    "\\75",
    "\\0",
    "\0",
    "@media ",
    "@supports ",
    "@import ",
    "@",
    "url(",
    "u",
    "rl(",
    "calc(",
    "var(",
    "attr(",
    "not(",
    "selector(",
    "content:",
    "1",
    "1e3px",
    "50%",
    "\u{fffd}é",
    "e",
    "\r\n",
];
