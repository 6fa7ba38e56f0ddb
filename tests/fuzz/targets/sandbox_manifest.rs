//! Manifests of plugins, and what they make of the operator's settings: the first line is the
//! settings of the check `x`, the rest its `plugin.toml`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vedette_fuzz::{Input, plant};
use vedette_sandbox::{Manifest, Settings};

fuzz_target!(init: plant(seeds(), LONG, 64 << 10), |data: &[u8]| {
    let mut input = Input(data);
    let set = serde_json::from_str(&input.line()).unwrap_or_default();
    let check = "x".parse().expect("x is a type of check");
    let settings = Settings::from([(check, set)]);
    let text = String::from_utf8_lossy(input.rest());
    if let Err(error) = Manifest::parse(&text, &settings) {
        assert!(!error.to_string().contains('\n'), "an error is one line");
    }
});

fn seeds() -> Vec<Vec<u8>> {
    let settings = r#"{"root":"whois.example:43","base":"https://a.example/x","sources":[{"url":"https://b.example"},{"url":"http://c.example:81"}]}"#;
    let seed = |rest: &str| format!("{settings}\n{HEAD}{rest}{SETTABLE}").into_bytes();
    RESTS.iter().map(|rest| seed(rest)).chain([b"{}\n".to_vec()]).collect()
}

const HEAD: &str = "[plugin]\nid = \"acme.x\"\nversion = \"1\"\nkind = \"check\"\ncheck-type = \"x\"\nwit = \"vedette:plugin@1\"\n";

/// Settings that are not declared would be all that is refused.
const SETTABLE: &str = "[settings.properties]\nroot = { type = \"string\", pattern = \":[0-9]+$\" }\nbase = true\nsources = { type = \"array\", items = { \"$ref\" = \"#/properties/base\" } }\n";

const RESTS: &[&str] = &[
    "limits = { memory = \"16MiB\", cpu = \"200ms\", wall = \"30s\", calls = 192, bytes = 12 }\n",
    "[schedule]\ninterval = \"1h\"\nmin-interval = \"1m\"\n",
    "[capabilities]\nhttp = { to = [\"{sources}\", \"{base}\", \"https://*.example:1-9\", \"target\"], methods = [\"GET\"] }\n",
    "[capabilities]\ntcp = { to = [\"*:43\", \"*:{root}\", \"{root}\", \"192.0.2.1:1\", \"[::1]:2\"] }\n",
    "[capabilities]\ntls = { to = [\"target:*\"], aia = true }\nx509 = true\nsecrets = [\"a\"]\n",
    "[capabilities]\ndns = { names = [\"target\", \"*.example\"], types = [\"CAA\", \"TYPE65\"] }\nstate = { site = \"64KiB\", shared = \"1B\" }\n",
    "[settings]\nurl-field = \"url\"\nhosts = [\"*.example\"]\n",
    "\n[a.b]\nc = 1979-05-27T07:32:00Z\nd = [1e400, 0x_f, \"\\u0000\"]\n",
];

/// Texts that go on and on.
const LONG: &[(&str, &str)] = &[
    ("{}\na = ", "["),
    ("{}\na", ".a"),
    ("{}\n", "[[a]]\n"),
    ("{}\n", "a = {"),
    ("{}\na = \"", "\\u0000"),
    ("{\"sources\":[", "{\"url\":\"https://a.example\"},"),
];
