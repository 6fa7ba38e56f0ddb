//! Plugins made to order: core WebAssembly written instruction by instruction, encoded against
//! the contract, so that a test can have a guest do what no compiler would.

mod component;
mod data;

use wasm_encoder::{InstructionSink, MemArg, ValType};
use wit_component::StringEncoding;

use data::Data;

/// A plugin in the making.
pub(crate) struct Guest {
    pub(crate) manifest: String,
    /// Further packages, and the items of the world.
    pub(crate) packages: Vec<String>,
    pub(crate) world: String,
    pub(crate) encoding: StringEncoding,
    /// Pages of 64 KiB at the start.
    pub(crate) pages: u64,
    imports: Vec<Import>,
    exports: Vec<Export>,
    data: Data,
}

struct Import {
    module: &'static str,
    name: &'static str,
    params: Vec<ValType>,
    results: Vec<ValType>,
}

struct Export {
    name: String,
    params: Vec<ValType>,
    body: Body,
}

type Body = Box<dyn Fn(&mut InstructionSink<'_>)>;

pub(crate) const I32: ValType = ValType::I32;
pub(crate) const I64: ValType = ValType::I64;
/// Index of the two spare locals of every body.
pub(crate) const SPARE: u32 = 30;

/// What a check says of itself, unless a test says otherwise.
pub(crate) struct Says<'a> {
    pub(crate) id: &'a str,
    pub(crate) version: &'a str,
    pub(crate) config_schema: &'a str,
    pub(crate) result_schema: &'a str,
    pub(crate) event: &'a str,
    pub(crate) alert_type: &'a str,
}

impl Default for Says<'_> {
    fn default() -> Self {
        Self {
            id: "acme.test",
            version: "1.0.0",
            config_schema: "{}",
            result_schema: r#"{"type":"object","properties":{"ok":{"type":"boolean"}}}"#,
            event: "test.bad",
            alert_type: "test",
        }
    }
}

const CHECKER: &str = "vedette:plugin/checker@1.0.0";
const NOTIFIER: &str = "vedette:plugin/notifier@1.0.0";
/// Parameters of `render`: a notification, whose time is the fifth, and the configuration.
const RENDER: [ValType; 10] = [I32, I32, I32, I32, I64, I32, I32, I32, I32, I32];

impl Guest {
    /// A check that answers `{"ok":true}` and finds nothing. `capabilities` is that table of its
    /// manifest, `imports` are the imports of its world.
    pub(crate) fn check(capabilities: &str, imports: &[&str]) -> Self {
        Self::check_saying(&Says::default(), capabilities, imports)
    }

    pub(crate) fn check_saying(says: &Says<'_>, capabilities: &str, imports: &[&str]) -> Self {
        let imports: String = imports.iter().map(|import| format!("import {import}; ")).collect();
        let mut guest = Self {
            manifest: format!(
                "[plugin]\nid = \"acme.test\"\nversion = \"1.0.0\"\nkind = \"check\"\n\
                 check-type = \"test\"\nwit = \"vedette:plugin@1\"\n\
                 limits = {{ wall = \"2s\" }}\n[capabilities]\n{capabilities}\n"
            ),
            world: format!("{imports} export {CHECKER};"),
            ..Self::empty()
        };
        let descriptor = guest.data.descriptor(says);
        guest.export_check("describe", &[], move |code| {
            code.i32_const(descriptor);
        });
        let valid = guest.data.ok_text("{}");
        guest.validate(move |code| {
            code.i32_const(valid);
        });
        guest.run_answers(r#"{"ok":true}"#);
        let fine = guest.data.words(&[0, 0, 0, 0, 0, 0]);
        guest.assess(move |code| {
            code.i32_const(fine);
        });
        guest
    }

    /// A channel that posts `{}` to `url`, whatever its settings are; it never sees `pager_url`.
    pub(crate) fn channel(url: &str) -> Self {
        Self::channel_with(url, &["pager_url"])
    }

    /// The same, which never sees these of its settings.
    pub(crate) fn channel_with(url: &str, secrets: &[&str]) -> Self {
        let mut guest = Self {
            manifest: "[plugin]\nid = \"acme.pager\"\nversion = \"1.0.0\"\nkind = \"notifier\"\n\
                       channel = \"pager\"\nwit = \"vedette:plugin@1\"\n\
                       [settings]\nurl-field = \"pager_url\"\n"
                .to_owned(),
            world: format!("export {NOTIFIER};"),
            ..Self::empty()
        };
        let fields = guest.data.texts(secrets);
        let mut said = Vec::new();
        for text in ["acme.pager", "1.0.0", "Pager", "Pages people.", "{}"] {
            said.extend(guest.data.text(text));
        }
        said.extend([fields, secrets.len() as i32, 1]);
        let described = guest.data.words(&said);
        guest.export(NOTIFIER, "describe", &[], move |code| {
            code.i32_const(described);
        });
        let valid = guest.data.ok_text("{}");
        guest.export(NOTIFIER, "validate", &[I32; 2], move |code| {
            code.i32_const(valid);
        });
        let post =
            [[0, 0], guest.data.text(url), guest.data.text("POST"), [0, 0], guest.data.text("{}")];
        let post: Vec<i32> = post.concat()[1..].to_vec();
        let delivery = guest.data.words(&post);
        let rendered = guest.data.words(&[0, delivery, 1]);
        guest.export(NOTIFIER, "render", &RENDER, move |code| {
            code.i32_const(rendered);
        });
        let retry = guest.data.words(&[1, 1, 3600]);
        guest.export(NOTIFIER, "interpret", &[I32; 8], move |code| {
            code.i32_const(retry);
        });
        guest
    }

    /// A channel that takes its settings as they are, posts them to `pager_url`, and every reply
    /// for success. It never sees `pager_url` and `pager_token`.
    pub(crate) fn echo() -> Self {
        Self::echo_in_parts(1)
    }

    /// The same so many times at once, each time under an id that is not for it to choose.
    pub(crate) fn echo_in_parts(parts: usize) -> Self {
        let to = "ref:pager_url";
        let mut guest = Self::channel_with(to, &["pager_url", "pager_token"]);
        let word = |nth: u64| MemArg { offset: 4 * nth, align: 2, memory_index: 0 };
        let valid = guest.data.words(&[0, 0, 0]);
        guest.export(NOTIFIER, "validate", &[I32; 2], move |code| {
            code.i32_const(valid).local_get(0).i32_store(word(1));
            code.i32_const(valid).local_get(1).i32_store(word(2));
            code.i32_const(valid);
        });
        let [url, url_len] = guest.data.text(to);
        let [method, method_len] = guest.data.text("POST");
        let header = guest.data.texts(&["X-Vedette-Delivery", "mine"]);
        // The last two, the body's address and length, are put in by each call.
        let part = [0, url, url_len, method, method_len, header, 1, 0, 0];
        let deliveries = guest.data.words(&part.repeat(parts));
        let rendered = guest.data.words(&[0, deliveries, parts as i32]);
        guest.export(NOTIFIER, "render", &RENDER, move |code| {
            for nth in 0..parts as u64 {
                code.i32_const(deliveries).local_get(8).i32_store(word(9 * nth + 7));
                code.i32_const(deliveries).local_get(9).i32_store(word(9 * nth + 8));
            }
            code.i32_const(rendered);
        });
        let delivered = guest.data.words(&[0, 0, 0]);
        guest.export(NOTIFIER, "interpret", &[I32; 8], move |code| {
            code.i32_const(delivered);
        });
        guest
    }

    /// Declares a function that the guest calls; answers its index. All imports come before the
    /// first body that uses one.
    pub(crate) fn import(
        &mut self,
        module: &'static str,
        name: &'static str,
        params: &[ValType],
        results: &[ValType],
    ) -> u32 {
        let (params, results) = (params.to_vec(), results.to_vec());
        self.imports.push(Import { module, name, params, results });
        self.imports.len() as u32 - 1
    }

    pub(crate) fn data(&mut self) -> &mut Data {
        &mut self.data
    }

    pub(crate) fn describe(&mut self, body: impl Fn(&mut InstructionSink<'_>) + 'static) {
        self.export_check("describe", &[], body);
    }

    pub(crate) fn validate(&mut self, body: impl Fn(&mut InstructionSink<'_>) + 'static) {
        self.export_check("validate", &[I32; 4], body);
    }

    pub(crate) fn run(&mut self, body: impl Fn(&mut InstructionSink<'_>) + 'static) {
        self.export_check("run", &[I32; 15], body);
    }

    /// `evidence.current-at` is parameter 2.
    pub(crate) fn assess(&mut self, body: impl Fn(&mut InstructionSink<'_>) + 'static) {
        let mut params = [I32; 15];
        params[2] = I64;
        params[6] = I64;
        self.export_check("assess", &params, body);
    }

    /// Has `run` answer this result.
    pub(crate) fn run_answers(&mut self, result: &str) {
        let answer = self.data.observation(result, &[]);
        self.run(move |code| {
            code.i32_const(answer);
        });
    }

    /// Has `run` answer what the operator set.
    pub(crate) fn run_answers_settings(&mut self) {
        let answer = self.data.observation_at(0, 0);
        let word = |nth: u64| MemArg { offset: 4 * nth, align: 2, memory_index: 0 };
        self.run(move |code| {
            code.i32_const(answer).local_get(11).i32_store(word(1));
            code.i32_const(answer).local_get(12).i32_store(word(2));
            code.i32_const(answer);
        });
    }

    fn empty() -> Self {
        Self {
            manifest: String::new(),
            packages: Vec::new(),
            world: String::new(),
            encoding: StringEncoding::UTF8,
            pages: 16,
            imports: Vec::new(),
            exports: Vec::new(),
            data: Data::default(),
        }
    }

    fn export_check(
        &mut self,
        name: &str,
        params: &[ValType],
        body: impl Fn(&mut InstructionSink<'_>) + 'static,
    ) {
        self.export(CHECKER, name, params, body);
    }

    /// All exports answer a pointer; a later body replaces an earlier one.
    fn export(
        &mut self,
        interface: &str,
        name: &str,
        params: &[ValType],
        body: impl Fn(&mut InstructionSink<'_>) + 'static,
    ) {
        let name = format!("{interface}#{name}");
        self.exports.retain(|export| export.name != name);
        self.exports.push(Export { name, params: params.to_vec(), body: Box::new(body) });
    }
}
