//! The `vedette` program.
//!
//! `main` builds the runtime itself: the database engine and the plugins' host functions recurse
//! deeper than the default stacks allow.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Stack of each worker thread, in bytes; what the database engine asks for.
const STACK: usize = 10 << 20;

fn main() -> ExitCode {
    // Two providers are compiled in; the one for everything is chosen here, before any use.
    if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
        eprintln!("vedette: a TLS provider was installed before main");
        return ExitCode::from(2);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("vedette")
        .thread_stack_size(STACK)
        .build();
    match runtime {
        Ok(runtime) => {
            // The root future runs on a worker too: the main thread's stack is the shell's.
            let code = runtime.block_on(async { tokio::spawn(vedette_server::cli::run()).await });
            runtime.shutdown_background();
            code.unwrap_or(ExitCode::FAILURE)
        }
        Err(cause) => {
            eprintln!("vedette: cannot start the runtime: {cause}");
            ExitCode::FAILURE
        }
    }
}
