//! Text of the document as HTML.
//!
//! *Invariant:* whatever a plugin or an operator wrote is escaped before it is marked up.

/// Text that can stand between tags and in quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// One line of text, in which backquotes mark code.
pub(super) fn inline(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut html = String::with_capacity(text.len());
    for (index, part) in parts.iter().enumerate() {
        // The last part after an odd number of backquotes was never closed.
        match (index % 2 == 1, index + 1 == parts.len()) {
            (true, false) => html.push_str(&format!("<code>{}</code>", escape(part))),
            (true, true) => html.push_str(&format!("`{}", escape(part))),
            (false, _) => html.push_str(&escape(part)),
        }
    }
    html
}

/// Paragraphs, and lists of lines that begin with `- `.
pub(super) fn prose(text: &str) -> String {
    let blocks = text.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let blocks = blocks.map(|block| {
        let items: Option<Vec<&str>> =
            block.lines().map(|line| line.trim().strip_prefix("- ")).collect();
        match items {
            Some(items) => {
                let items: String =
                    items.into_iter().map(|item| format!("<li>{}</li>", inline(item))).collect();
                format!("<ul>{items}</ul>")
            }
            None => format!("<p>{}</p>", inline(block)),
        }
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_through_as_markup() {
        let text = "<script>alert(\"1\")</script> & `<b>` 'x'";
        let html = inline(text);
        assert_eq!(
            html,
            "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; <code>&lt;b&gt;</code> &#39;x&#39;"
        );
        assert_eq!(inline("a `b"), "a `b");
    }

    #[test]
    fn paragraphs_and_lists_are_told_apart() {
        assert_eq!(prose("a\n\n- b\n- c\n\nd"), "<p>a</p><ul><li>b</li><li>c</li></ul><p>d</p>");
    }
}
