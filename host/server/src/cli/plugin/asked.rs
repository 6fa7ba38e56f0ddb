//! What a manifest asks for, as it is written, and less of it.
//!
//! *Invariant:* pure.

use toml::Table;

/// The `[capabilities]` of a manifest's text; empty where it asks for nothing.
pub(super) fn of(manifest: &str) -> Table {
    let manifest: Table = manifest.parse().unwrap_or_default();
    let asked = manifest.get("capabilities").and_then(toml::Value::as_table);
    asked.cloned().unwrap_or_default()
}

/// The part of it that is named.
pub(super) fn only(asked: &Table, names: &[String]) -> Result<Table, String> {
    let named = names.iter().map(|name| {
        let entry = asked.get(name).map(|value| (name.clone(), value.clone()));
        let grant = match name.as_str() {
            "" => "--grant has an empty name".to_owned(),
            name => format!("--grant names {name}"),
        };
        entry.ok_or_else(|| match asked.is_empty() {
            true => format!("{grant}, and the plugin asks for nothing"),
            false => {
                let asked: Vec<&str> = asked.keys().map(String::as_str).collect();
                format!("{grant}; the plugin asks for {}", asked.join(", "))
            }
        })
    });
    named.collect()
}

/// What another version is granted: what it asks for, but for capabilities that `granted` narrows or
/// leaves out of what the version before `had_asked` for. These stay as they were granted; answers their
/// names too.
pub(super) fn narrowed(asked: &Table, had_asked: &Table, granted: &Table) -> (Table, Vec<String>) {
    let mut kept = Vec::new();
    let mut next = Table::new();
    for (name, value) in asked {
        let value = match (had_asked.get(name), granted.get(name)) {
            (Some(_), None) => None,
            (Some(had), Some(before)) if had != before && before != value => Some(before),
            _ => {
                next.insert(name.clone(), value.clone());
                continue;
            }
        };
        next.extend(value.map(|value| (name.clone(), value.clone())));
        kept.push(name.clone());
    }
    (next, kept)
}

/// One line for each capability.
pub(super) fn lines(title: &str, table: &Table) -> String {
    if table.is_empty() {
        return format!("{title}: nothing\n");
    }
    let lines = table.iter().map(|(name, value)| format!("  {name} = {value}\n"));
    format!("{title}:\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[plugin]\nid = \"acme.banner\"\n[capabilities]\n\
                            tcp = { to = [\"target:25\"] }\nrandom = true\n";

    #[test]
    fn what_is_asked_for_can_be_granted_in_part() {
        let asked = of(MANIFEST);
        assert_eq!(asked.len(), 2);
        let tcp = only(&asked, &["tcp".to_owned()]).expect("asked for");
        assert_eq!(tcp.get("tcp"), asked.get("tcp"));
        assert_eq!(tcp.len(), 1);
        assert!(only(&asked, &[]).expect("nothing").is_empty());
        let wrong = only(&asked, &["dns".to_owned()]).expect_err("not asked for");
        assert_eq!(wrong, "--grant names dns; the plugin asks for random, tcp");
        let empty = only(&asked, &[String::new()]).expect_err("no name");
        assert_eq!(empty, "--grant has an empty name; the plugin asks for random, tcp");
    }

    #[test]
    fn what_was_narrowed_by_hand_stays_narrow_and_all_else_is_as_asked() {
        let table = |text: &str| text.parse::<Table>().expect("TOML");
        let had_asked = table("tcp = { to = [\"target:*\"] }\nrandom = true\n");
        let granted = table("tcp = { to = [\"target:25\"] }\nrandom = true\n");
        let asked = table("tcp = { to = [\"*:*\"] }\nrandom = false\ndns = true\n");
        let expected = table("tcp = { to = [\"target:25\"] }\nrandom = false\ndns = true\n");
        let (next, kept) = narrowed(&asked, &had_asked, &granted);
        assert_eq!((next, kept), (expected, vec!["tcp".to_owned()]));
        assert_eq!(narrowed(&asked, &had_asked, &had_asked), (asked.clone(), Vec::new()));
        let withheld = table("random = true\n");
        let expected = table("random = false\ndns = true\n");
        let (next, kept) = narrowed(&asked, &had_asked, &withheld);
        assert_eq!((next, kept), (expected, vec!["tcp".to_owned()]));
        // It asks by now for no more than it was granted.
        let (next, kept) = narrowed(&granted, &had_asked, &granted);
        assert_eq!((next, kept), (granted, Vec::new()));
        assert_eq!(narrowed(&asked, &Table::new(), &Table::new()), (asked, Vec::new()));
    }

    #[test]
    fn capabilities_are_shown_as_they_are_written() {
        assert_eq!(lines("asks for", &of("[plugin]")), "asks for: nothing\n");
        assert_eq!(
            lines("asks for", &of(MANIFEST)),
            "asks for:\n  random = true\n  tcp = { to = [\"target:25\"] }\n"
        );
    }
}
