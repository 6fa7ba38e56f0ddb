//! The component of a guest: its module, encoded against the contract, and its manifest.

use std::path::Path;

use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, ImportSection, MemorySection, MemoryType, Module,
    TypeSection,
};
use wit_component::{ComponentEncoder, embed_component_metadata};
use wit_parser::Resolve;

use super::{Guest, I32, SPARE, data::BASE};

impl Guest {
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
        let heap = (BASE + self.data.bytes().len() as u32).next_multiple_of(16);
        let mutable = GlobalType { val_type: I32, mutable: true, shared: false };
        globals.global(mutable, &ConstExpr::i32_const(heap as i32));
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(BASE as i32), self.data.bytes().iter().copied());

        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&memories);
        module.section(&globals).section(&exports).section(&code).section(&data);
        module.finish()
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
