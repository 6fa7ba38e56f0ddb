//! Plugins made to order: core WebAssembly written instruction by instruction, encoded against
//! the contract, so that a test can have a guest do what no compiler would.

use std::path::Path;

use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, ImportSection, InstructionSink, MemArg,
    MemorySection, MemoryType, Module, TypeSection, ValType,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

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

/// What the guest's memory holds from the start.
pub(crate) struct Data(Vec<u8>);

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
/// Where static data starts.
const BASE: u32 = 1024;

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

    /// The component, with its manifest inside.
    pub(crate) fn build(&self) -> Vec<u8> {
        self.with_manifest(self.without_manifest())
    }

    /// Any component with this guest's manifest.
    pub(crate) fn with_manifest(&self, mut component: Vec<u8>) -> Vec<u8> {
        let name = "vedette:manifest".as_bytes();
        let mut section = vec![name.len() as u8];
        section.extend(name);
        section.extend(self.manifest.as_bytes());
        component.push(0);
        leb(section.len(), &mut component);
        component.extend(section);
        component
    }

    pub(crate) fn without_manifest(&self) -> Vec<u8> {
        let mut resolve = Resolve::default();
        // The contract lies at the root of the checkout, wherever below it the test is.
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let mut wit = above.map(|folder| folder.join("wit")).filter(|folder| folder.is_dir());
        let wit = wit.next().expect("the contract is in the checkout");
        resolve.push_dir(wit).expect("the contract parses");
        for package in &self.packages {
            resolve.push_str("more.wit", package).expect("the package parses");
        }
        let world = format!("package test:guest;\nworld guest {{ {} }}\n", self.world);
        let package = resolve.push_str("guest.wit", &world).expect("the world parses");
        let world = resolve.select_world(&[package], Some("guest")).expect("it is there");
        let mut module = self.module();
        embed_component_metadata(&mut module, &resolve, world, self.encoding).expect("embeds");
        let mut encoder = ComponentEncoder::default();
        let encoder = encoder.module(&module).expect("a module of that world");
        encoder.encode().expect("encodes")
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
            data: Data(Vec::new()),
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

    fn module(&self) -> Vec<u8> {
        let mut types = TypeSection::new();
        let mut imports = ImportSection::new();
        let mut functions = FunctionSection::new();
        let mut code = CodeSection::new();
        let mut exports = ExportSection::new();
        for (index, import) in self.imports.iter().enumerate() {
            types.ty().function(import.params.iter().copied(), import.results.iter().copied());
            imports.import(import.module, import.name, EntityType::Function(index as u32));
        }
        let first = self.imports.len() as u32;
        for (index, export) in self.exports.iter().enumerate() {
            types.ty().function(export.params.iter().copied(), [I32]);
            functions.function(first + index as u32);
            // Locals for the bodies that want them: 30 and 31 for all, after any parameters.
            let spare = SPARE - export.params.len() as u32;
            let mut function = Function::new([(spare + 2, I32)]);
            (export.body)(&mut function.instructions());
            function.instructions().end();
            code.function(&function);
            exports.export(&export.name, ExportKind::Func, first + index as u32);
        }
        let realloc = first + self.exports.len() as u32;
        types.ty().function([I32; 4], [I32]);
        functions.function(realloc);
        code.function(&bump());
        exports.export("cabi_realloc", ExportKind::Func, realloc);
        exports.export("memory", ExportKind::Memory, 0);

        let mut memories = MemorySection::new();
        memories.memory(MemoryType {
            minimum: self.pages,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        let mut globals = GlobalSection::new();
        let heap = (BASE + self.data.0.len() as u32).next_multiple_of(16);
        let mutable = GlobalType { val_type: I32, mutable: true, shared: false };
        globals.global(mutable, &ConstExpr::i32_const(heap as i32));
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(BASE as i32), self.data.0.iter().copied());

        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&memories);
        module.section(&globals).section(&exports).section(&code).section(&data);
        module.finish()
    }
}

/// Index of the two spare locals of every body.
pub(crate) const SPARE: u32 = 30;

impl Data {
    /// Address and length.
    pub(crate) fn text(&mut self, text: &str) -> [i32; 2] {
        [self.put(text.as_bytes()), text.len() as i32]
    }

    /// A record of 32-bit fields; answers its address.
    pub(crate) fn words(&mut self, words: &[i32]) -> i32 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(&bytes)
    }

    /// A list of texts; answers its address.
    pub(crate) fn texts(&mut self, texts: &[&str]) -> i32 {
        let words: Vec<i32> = texts.iter().flat_map(|text| self.text(text)).collect();
        self.words(&words)
    }

    /// `ok(text)`.
    pub(crate) fn ok_text(&mut self, text: &str) -> i32 {
        let [at, len] = self.text(text);
        self.words(&[0, at, len])
    }

    /// `ok(observation)` with metrics of the name `n`.
    pub(crate) fn observation(&mut self, result: &str, metrics: &[f64]) -> i32 {
        let [at, len] = self.text(result);
        let [name, name_len] = self.text("n");
        let mut list = Vec::new();
        for metric in metrics {
            list.extend([name, name_len].iter().flat_map(|word| word.to_le_bytes()));
            list.extend(metric.to_le_bytes());
        }
        let list = self.put(&list);
        self.words(&[0, at, len, 0, 0, list, metrics.len() as i32, 0, 0])
    }

    /// `ok(observation)` whose result is `len` bytes from `at` on, whatever is there.
    pub(crate) fn observation_at(&mut self, at: i32, len: i32) -> i32 {
        self.words(&[0, at, len, 0, 0, 0, 0, 0, 0])
    }

    /// `err(check-error)`: case and text.
    pub(crate) fn check_error(&mut self, case: i32, text: &str) -> i32 {
        let [at, len] = self.text(text);
        self.words(&[1, case, at, len])
    }

    /// An assessment: `degraded`, with so many findings of one event.
    pub(crate) fn findings(&mut self, event: &str, count: usize) -> i32 {
        let event = self.text(event);
        let key = self.text("key");
        let message = self.text("line one\nline two");
        let mut list = Vec::new();
        for _ in 0..count {
            list.extend(event);
            list.push(0); // severity
            list.extend(key);
            list.extend(message);
            list.extend([0, 0, 0]); // suggestion
            list.extend([0, 0, 0]); // details
            list.push(0); // confirmations
        }
        let list = self.words(&list);
        self.words(&[1, list, count as i32, 0, 0, 0])
    }

    fn descriptor(&mut self, says: &Says<'_>) -> i32 {
        let mut words = Vec::new();
        let texts =
            [says.id, says.version, "Test", "A test.", says.config_schema, says.result_schema];
        for text in texts {
            words.extend(self.text(text));
        }
        words.extend([0, 0]); // summary-fields
        let mut event = Vec::new();
        event.extend(self.text(says.event));
        event.extend(self.text(says.alert_type));
        event.push(2); // critical
        event.extend(self.text("Bad"));
        event.push(1 | 1 << 8 | 1 << 16); // self-resolving, one confirmation, clears at once
        let events = self.words(&event);
        words.extend([events, 1]);
        let mut metric = Vec::new();
        for text in ["n", "1", "A number."] {
            metric.extend(self.text(text));
        }
        let metrics = self.words(&metric);
        words.extend([metrics, 1]);
        self.words(&words)
    }

    fn put(&mut self, bytes: &[u8]) -> i32 {
        let padded = self.0.len().next_multiple_of(8);
        self.0.resize(padded, 0);
        self.0.extend(bytes);
        (BASE as usize + padded) as i32
    }
}

/// An allocator that never frees: an instance serves one call.
fn bump() -> Function {
    let mut function = Function::new([(1, I32)]);
    let mut code = function.instructions();
    // new = (heap + align - 1) & -align; heap = new + size; answer new
    code.global_get(0).local_get(2).i32_add().i32_const(1).i32_sub();
    code.i32_const(0).local_get(2).i32_sub().i32_and().local_tee(4);
    code.local_get(3).i32_add().global_set(0);
    code.local_get(4).end();
    function
}

fn leb(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
