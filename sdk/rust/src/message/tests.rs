use super::*;
use crate::testing::channel;

fn alert(severity: Severity, resolved: bool) -> Alert {
    let message = "the certificate\nexpires".to_owned();
    Alert { severity, resolved, message, ..channel::alert() }
}

fn told(test: bool, alerts: Vec<Alert>) -> Vec<Entry> {
    entries(&Notification { test, ..channel::notification(alerts) })
}

fn bold(c: char, out: &mut String) {
    if c == '*' {
        out.push('\\');
    }
    out.push(c);
}

#[test]
fn alert_is_marked_by_a_word_and_a_colour_of_its_own() {
    let cases = [
        (Severity::Critical, false, "Critical"),
        (Severity::Warning, false, "Warning"),
        (Severity::Info, false, "Info"),
        (Severity::Critical, true, "Resolved"),
    ];
    for (severity, resolved, word) in cases {
        assert_eq!(told(false, vec![alert(severity, resolved)])[0].mark.word(), word);
    }
    assert_eq!(told(true, vec![alert(Severity::Critical, true)])[0].mark, Mark::Test);
    let mut colours: Vec<u32> = Mark::ALL.iter().map(|mark| mark.rgb()).collect();
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours.len(), Mark::ALL.len());
    assert!(Mark::ALL.is_sorted(), "the worst first");
}

#[test]
fn test_says_so_and_what_is_over_suggests_nothing() {
    let test = &told(true, vec![alert(Severity::Info, false)])[0];
    assert_eq!((test.message.as_str(), &test.suggestion), (TEST, &None));
    assert_eq!(told(false, vec![alert(Severity::Info, true)])[0].suggestion, None);
    let mut blank = alert(Severity::Info, false);
    blank.suggestion = Some(" \u{200b}\n".to_owned());
    assert_eq!(told(false, vec![blank])[0].suggestion, None);
}

#[test]
fn headline_names_one_alert_and_counts_many() {
    let one = told(false, vec![alert(Severity::Critical, false)]);
    assert_eq!(headline(&one), "Critical: example.com");
    assert_eq!(one[0].line(), "Critical: example.com: the certificate expires");
    for (message, line) in [
        ("example.com: it expires", "Critical: example.com: it expires"),
        ("example.com is down", "Critical: example.com: example.com is down"),
    ] {
        let named = Entry { message: message.to_owned(), ..one[0].clone() };
        assert_eq!(named.line(), line);
    }
    let many = told(
        false,
        vec![
            alert(Severity::Warning, false),
            alert(Severity::Critical, true),
            alert(Severity::Critical, false),
            alert(Severity::Warning, false),
        ],
    );
    assert_eq!(headline(&many), "4 alerts: 1 critical, 2 warning, 1 resolved");
}

#[test]
fn plain_text_is_one_line_that_reads_as_it_is_written() {
    for (text, expected) in [
        ("the certificate expires", "the certificate expires"),
        ("  a\r\n\tb\u{0}c\u{2028}d ", "a b c d"),
        ("one\r\ntwo\u{202e}\u{0}three", "one two three"),
        ("safe\u{202e}moc.live\u{202c}", "safemoc.live"),
        ("\u{feff}e\u{200b}x\u{ad}a\u{2066}m\u{2069}ple", "example"),
        ("tag\u{e0041}ged", "tagged"),
        ("\u{1b}[31mred", "[31mred"),
        ("بانک\u{200c}ها", "بانک\u{200c}ها"),
        ("\u{7}\u{9f}", ""),
    ] {
        assert_eq!(plain(text), expected, "{text:?}");
    }
}

#[test]
fn text_that_does_not_fit_ends_between_two_escapes() {
    for (text, max, expected) in [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("ab*", 4, "ab\\*"),
        ("ab*", 3, "ab…"),
        ("*b", 2, "…"),
        ("**", 3, "\\*…"),
        ("a😀", 3, "a😀"),
        ("a😀", 2, "a…"),
        ("", 1, ""),
    ] {
        let fitted = fit(text, max, bold);
        assert_eq!(fitted, expected, "{text} in {max}");
        assert!(units(&fitted) <= max, "{text} in {max}");
    }
}

#[test]
fn groups_keep_the_order_the_number_and_the_weight() {
    let parted = |items: &[usize], most, room| parted(items.to_vec(), most, room, |item| *item);
    assert_eq!(parted(&[], 3, 10), Vec::<Vec<usize>>::new());
    assert_eq!(parted(&[1, 2, 3, 4], 3, 10), [vec![1, 2, 3], vec![4]]);
    assert_eq!(parted(&[5, 5, 1], 3, 10), [vec![5, 5], vec![1]]);
    assert_eq!(parted(&[11, 1, 20, 2], 3, 10), [vec![11], vec![1], vec![20], vec![2]]);
}
