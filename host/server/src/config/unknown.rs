//! Names that are not known here, each with the known one that it may have been meant to be: keys of
//! the file, variables of the environment.

use super::layers;

/// The message about a key in the file that does not exist, if that is what serde's message says;
/// `path` is the key with its section.
pub(super) fn key(path: &str, message: &str) -> Option<String> {
    let (name, known) = message.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let section = path.strip_suffix(name).unwrap_or_default();
    // "one of `a`, `b`": what stands in backticks is every other part.
    let known = known.split('`').skip(1).step_by(2);
    Some(match nearest(name, known) {
        Some(meant) => format!("there is no key `{path}`; did you mean `{section}{meant}`?"),
        None => format!("there is no key `{path}`; {EXAMPLE} shows every key"),
    })
}

/// The message about variables that are not read but look like one that is. Others are somebody
/// else's: for a service called vedette, Kubernetes sets VEDETTE_PORT and the like.
pub(crate) fn variables(names: impl Iterator<Item = String>) -> Vec<String> {
    let read = || layers::variables().chain(OF_COMMANDS);
    let told = names.filter(|name| !read().any(|read| read == name)).filter_map(|name| {
        let known = read().filter_map(|read| read.strip_prefix(PREFIX));
        let meant = nearest(name.strip_prefix(PREFIX)?, known)?;
        Some(format!("{name} is not read; did you mean {PREFIX}{meant}?"))
    });
    told.collect()
}

/// Nothing is near that differs by more than a slip or two.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = (name.chars().count() / 3).clamp(1, 2);
    known
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

const EXAMPLE: &str = "deploy/vedette.example.toml";
const PREFIX: &str = "VEDETTE_";
/// What commands read besides the configuration.
const OF_COMMANDS: [&str; 4] =
    ["VEDETTE_ADMIN", "VEDETTE_AGENT_KEY", "VEDETTE_CONFIG", "VEDETTE_KEY"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_with_what_was_meant() {
        for (name, told) in [
            ("VEDETTE_LISTN", "VEDETTE_LISTN is not read; did you mean VEDETTE_LISTEN?"),
            (
                "VEDETTE_PUBLICURL",
                "VEDETTE_PUBLICURL is not read; did you mean VEDETTE_PUBLIC_URL?",
            ),
            ("VEDETTE_BD", "VEDETTE_BD is not read; did you mean VEDETTE_DB?"),
            ("VEDETTE_CONFG", "VEDETTE_CONFG is not read; did you mean VEDETTE_CONFIG?"),
        ] {
            assert_eq!(variables([name.to_owned()].into_iter()), [told]);
        }
    }

    #[test]
    fn what_is_read_and_what_others_set_is_not_told() {
        let others = [
            "VEDETTE_PORT",
            "VEDETTE_PORT_8080_TCP",
            "VEDETTE_PORT_8080_TCP_ADDR",
            "VEDETTE_SERVICE_HOST",
            "VEDETTE_SERVICE_PORT",
            "VEDETTE_SERVICE_PORT_HTTP",
            "VEDETTE_SMTP_PORT",
            "VEDETTE_ADMIN_PORT",
            "VEDETTE_",
            "VEDETTE",
            "LISTN",
            "PATH",
        ];
        let names = layers::variables().chain(OF_COMMANDS).chain(others);
        assert_eq!(variables(names.map(str::to_owned)), Vec::<String>::new());
    }
}
