use wasm_encoder::{
    CodeSection, FieldType, Function, FunctionSection, HeapType, InstructionSink, MemorySection,
    MemoryType, RefType, StorageType, SubType, TableSection, TableType, TagKind, TagSection,
    TagType, TypeSection, ValType,
};

use super::*;
use crate::standstill::LATE;

/// Both engines, compiled for as plugins are.
fn compile(engines: &Engines, module: &[u8]) -> [wasmtime::Result<()>; 2] {
    [Class::Light, Class::Heavy].map(|class| {
        let engine = engines.get(class).expect("an engine");
        engine.precompile_module(module).map(drop)
    })
}

fn memory(memory64: bool, shared: bool, page_size_log2: Option<u32>) -> MemoryType {
    MemoryType { minimum: 1, maximum: Some(1), memory64, shared, page_size_log2 }
}

fn memories(memories: &[MemoryType]) -> Vec<u8> {
    let mut section = MemorySection::new();
    for memory in memories {
        section.memory(*memory);
    }
    let mut module = wasm_encoder::Module::new();
    module.section(&section);
    module.finish()
}

/// A module of these types whose one function, of type 0, does this.
fn doing(types: &TypeSection, body: impl Fn(&mut InstructionSink<'_>)) -> Vec<u8> {
    let mut functions = FunctionSection::new();
    functions.function(0);
    let mut tables = TableSection::new();
    tables.table(TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: 1,
        maximum: None,
        shared: false,
    });
    let mut function = Function::new([]);
    body(&mut function.instructions());
    function.instructions().end();
    let mut code = CodeSection::new();
    code.function(&function);
    let mut module = wasm_encoder::Module::new();
    module.section(types).section(&functions).section(&tables).section(&code);
    module.finish()
}

fn plain() -> TypeSection {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    types
}

/// Type 0 is open to subtypes, and type 1 is one.
fn hierarchy() -> TypeSection {
    let mut types = TypeSection::new();
    for supertype_idx in [None, Some(0)] {
        let inner = wasm_encoder::CompositeInnerType::Func(wasm_encoder::FuncType::new([], []));
        let composite_type =
            wasm_encoder::CompositeType { inner, shared: false, descriptor: None, describes: None };
        types.ty().subtype(&SubType { is_final: false, supertype_idx, composite_type });
    }
    types
}

#[test]
fn ordinary_modules_compile() {
    let modules = [
        doing(&plain(), |_| {}),
        memories(&[memory(false, false, None)]),
        doing(&plain(), |code| {
            code.v128_const(0).drop();
        }),
    ];
    let engines = Engines::new().expect("engines");
    for module in modules {
        assert!(compile(&engines, &module).iter().all(Result::is_ok));
    }
}

/// A bump of wasmtime must not switch one of these back on: this build has no runtime for most of
/// them, and the first two abort the process when they get as far as running.
#[test]
fn proposals_that_this_build_cannot_run_are_refused_at_compile_time() {
    let mut structs = TypeSection::new();
    structs.ty().function([], []);
    structs
        .ty()
        .struct_([FieldType { element_type: StorageType::Val(ValType::I32), mutable: false }]);
    let mut exception = wasm_encoder::Module::new();
    let mut tags = TagSection::new();
    tags.tag(TagType { kind: TagKind::Exception, func_type_idx: 0 });
    exception.section(&plain()).section(&tags);

    let modules = [
        (
            "call_indirect with a subtype",
            doing(&hierarchy(), |code| {
                code.i32_const(0).call_indirect(0, 1);
            }),
        ),
        (
            "ref.test with a subtype",
            doing(&hierarchy(), |code| {
                code.ref_null(HeapType::FUNC).ref_test_non_null(HeapType::Concrete(1)).drop();
            }),
        ),
        ("structs", doing(&structs, |_| {})),
        (
            "typed function references",
            doing(&plain(), |code| {
                code.ref_null(HeapType::Concrete(0)).call_ref(0);
            }),
        ),
        ("exceptions", exception.finish()),
        ("shared memory", memories(&[memory(false, true, None)])),
        ("64-bit memory", memories(&[memory(true, false, None)])),
        ("two memories", memories(&[memory(false, false, None); 2])),
        ("custom page sizes", memories(&[memory(false, false, Some(0))])),
        (
            "tail calls",
            doing(&plain(), |code| {
                code.return_call(0);
            }),
        ),
        (
            "relaxed SIMD",
            doing(&plain(), |code| {
                code.v128_const(0).v128_const(0).i8x16_relaxed_swizzle().drop();
            }),
        ),
    ];
    let engines = Engines::new().expect("engines");
    for (proposal, module) in modules {
        assert!(compile(&engines, &module).iter().all(Result::is_err), "{proposal} compiles");
    }
}

#[test]
fn pools_are_built_where_the_address_space_allows() {
    // What the tests of this crate run on is what a server runs on.
    for class in [Class::Light, Class::Heavy] {
        assert!(Engine::new(&config(pooled(class.room()))).is_ok(), "{}", class.name());
    }
}

#[test]
fn a_process_that_goes_on_has_not_stood_still() {
    let engines = Engines::new().expect("engines");
    thread::sleep(LATE);
    // At one of these moments at least the machine had time for the thread that ticks.
    assert!((0..50).any(|_| {
        thread::sleep(Duration::from_millis(100));
        let now = Instant::now();
        !engines.standstill().was_met(now, now)
    }));
}
