//! What `deploy/` says is true of this program: variables, commands with their flags, keys of the
//! configuration, metrics with their labels, and numbers that stand elsewhere too.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use serde_json::Value;
use vedette_tests::program;

#[test]
fn variables_are_read_by_the_program() {
    let sources = sources();
    for (file, text) in files("deploy") {
        for name in names(&text, "VEDETTE_", |c| c.is_ascii_uppercase() || c == '_') {
            assert!(sources.contains(&format!("\"{name}\"")), "{file}: nobody reads {name}");
        }
    }
}

#[test]
fn commands_exist_and_take_these_flags() {
    let mut wanted: BTreeMap<Vec<String>, BTreeSet<(String, String)>> = BTreeMap::new();
    for (file, text) in files("deploy") {
        for (command, flags) in commands(&text) {
            let flags = flags.into_iter().map(|flag| (flag, file.clone()));
            wanted.entry(command).or_default().extend(flags);
        }
    }
    assert!(wanted.contains_key(["serve".to_owned()].as_slice()), "{wanted:?}");
    for (command, flags) in wanted {
        let help = help(&command);
        let known: BTreeSet<&str> =
            help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).collect();
        for (flag, file) in flags {
            assert!(known.contains(&*flag), "{file}: vedette {command:?} has no {flag}");
        }
    }
}

#[test]
fn keys_stand_in_the_example() {
    let known = keys(&read("deploy/vedette.example.toml"));
    assert!(known.contains("secrets.key_file"), "{known:?}");
    for (file, text) in files("deploy") {
        for key in text.split('`').filter(is_key) {
            let section = key.split('.').next().unwrap_or_default();
            let is_ours = known.iter().any(|known| known.split('.').next() == Some(section));
            assert!(!is_ours || known.contains(key), "{file}: there is no {key}");
        }
    }
}

#[test]
fn metrics_and_their_labels_are_counted_somewhere() {
    let sources = sources();
    for file in ["deploy/alerts.yaml", "deploy/dashboards/vedette.json"] {
        let text = read(file);
        let metrics = names(&text, "vedette_", |c| c.is_ascii_lowercase() || c == '_');
        assert!(metrics.len() > 5, "{file}: {metrics:?}");
        for name in metrics {
            let parts = ["_bucket", "_sum", "_count"];
            let metric = parts.iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name);
            assert!(sources.contains(&format!("\"{metric}\"")), "{file}: nobody counts {metric}");
        }
        for label in labels(&text) {
            // Prometheus adds the first two, a histogram the third.
            let is_known = ["job", "instance", "le"].contains(&label)
                || sources.contains(&format!("\"{label}\" =>"));
            assert!(is_known, "{file}: nothing is counted by {label}");
        }
    }
}

#[test]
fn metrics_that_are_counted_have_a_help_line() {
    let (mut counted, mut helped) = (BTreeSet::new(), BTreeSet::new());
    for (file, text) in files("host").into_iter().filter(|(file, _)| file.ends_with(".rs")) {
        let names = names(&text, "vedette_", |c| c.is_ascii_lowercase() || c == '_');
        if file.ends_with("/metric_help.rs") {
            helped.extend(names.into_iter().map(str::to_owned));
            continue;
        }
        for call in ["metrics::counter!(", "metrics::gauge!(", "metrics::histogram!("] {
            let calls = text.split(call).skip(1);
            counted.extend(calls.map(|rest| after(rest, "\"").to_owned()));
        }
    }
    assert!(counted.len() > 20, "{counted:?}");
    assert_eq!(counted, helped);
}

#[test]
fn dashboard_is_json_with_panels() {
    let dashboard: Value =
        serde_json::from_str(&read("deploy/dashboards/vedette.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("a list");
    assert!(panels.iter().any(|panel| panel["targets"][0]["expr"].is_string()));
}

#[test]
fn numbers_are_those_of_the_sources() {
    let (cargo, toolchain) = (read("Cargo.toml"), read("rust-toolchain.toml"));
    let rust = after(&toolchain, "channel = \"");
    let rust = rust.rsplit_once('.').expect("three numbers").0;
    let client = after(&cargo, "surrealdb = { version = \"=");
    let version = after(&cargo, "\nversion = \"");
    let sources = sources();
    let most_runs = after(&sources, "const MOST_RUNS: usize = ");
    for (file, line) in [
        ("Containerfile", format!("/rust:{rust}-")),
        ("compose.cluster.yaml", format!("/surrealdb:v{client}\n")),
        ("kubernetes/cluster/kustomization.yaml", format!("newTag: {version}\n")),
        ("kubernetes/single/kustomization.yaml", format!("newTag: {version}\n")),
        (
            "alerts.yaml",
            format!("vedette_runs_in_flight{{job=\"vedette\"}}[10m]) >= {most_runs}\n"),
        ),
    ] {
        assert!(read(&format!("deploy/{file}")).contains(&line), "deploy/{file}: {line}");
    }
}

#[test]
fn proxies_send_a_client_to_the_node_that_counts_its_requests() {
    for (file, line) in [
        ("compose.cluster.yaml", "    lb_policy client_ip_hash\n"),
        ("kubernetes/ingress.example.yaml", "    nginx.ingress.kubernetes.io/upstream-hash-by: "),
    ] {
        assert!(read(&format!("deploy/{file}")).contains(line), "deploy/{file}: {line}");
    }
}

/// The names in a text that begin so; a start alone is none.
fn names<'a>(text: &'a str, start: &str, belongs: fn(char) -> bool) -> BTreeSet<&'a str> {
    let begins = text.match_indices(start).map(|(at, _)| at);
    begins
        .filter(|at| !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        .map(|at| {
            let rest = &text[at..];
            &rest[..rest.find(|c: char| !belongs(c)).unwrap_or(rest.len())]
        })
        .filter(|name| name.len() > start.len())
        .collect()
}

/// What queries sum by.
fn labels(text: &str) -> BTreeSet<&str> {
    let lists = text.split(" by (").skip(1).filter_map(|rest| rest.split(')').next());
    lists.flat_map(|list| list.split(',')).map(str::trim).collect()
}

/// The commands of the program that a text names, however it writes them: subcommands, flags.
fn commands(text: &str) -> Vec<(Vec<String>, Vec<String>)> {
    const COMMANDS: [&str; 7] = ["serve", "check", "account", "health", "plugin", "mcp", "agent"];
    let text = text.replace("\\\n", " ").replace(['"', '\'', '`', '[', ']', ','], " ");
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let rest = &words[at + 1..];
            let is_program = *word == "vedette" || word.ends_with("/vedette");
            if !is_program || !rest.first().is_some_and(|first| COMMANDS.contains(first)) {
                continue;
            }
            let depth = if ["account", "plugin"].contains(&rest[0]) { 2 } else { 1 };
            let is_name = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase());
            let command = rest.iter().take(depth).take_while(is_name);
            let flags = rest.iter().filter(|word| word.starts_with("--") && word.len() > 2);
            let flags = flags.filter_map(|flag| flag.split('=').next());
            found.push((
                command.map(|&word| word.to_owned()).collect(),
                flags.map(str::to_owned).collect(),
            ));
        }
    }
    found
}

fn help(command: &[String]) -> String {
    let mut program = Command::new(program().expect("the program was built"));
    let said = program.args(command).arg("--help").output().expect("it runs");
    assert!(said.status.success(), "there is no vedette {command:?}");
    String::from_utf8(said.stdout).expect("text")
}

/// `section.key` of each line of the example, those without a default too.
fn keys(example: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut keys = BTreeSet::new();
    for line in example.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line)) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.split_once(" = ")
            && !section.is_empty()
            && !line.starts_with('#')
        {
            keys.insert(format!("{section}.{key}"));
        }
    }
    keys
}

fn is_key(quoted: &&str) -> bool {
    quoted.contains('.') && quoted.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.')
}

/// What follows up to the next quote, semicolon or end of the line.
fn after<'a>(text: &'a str, start: &str) -> &'a str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("there is no {start}")).1;
    rest.split(['"', ';', '\n']).next().unwrap_or(rest)
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(file)).unwrap_or_else(|cause| panic!("{file}: {cause}"))
}

/// Everything that the crates of the host are made of.
fn sources() -> String {
    let files = files("host").into_iter().filter(|(file, _)| file.ends_with(".rs"));
    files.map(|(_, text)| text).collect()
}

/// The texts below a folder of the project, with their names.
fn files(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().expect("its type").is_dir() {
                folders.push(name);
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                found.push((name, text));
            }
        }
    }
    found
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
