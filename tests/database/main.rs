//! A SurrealDB server as its makers ship it, with storage in memory and in files.

fn main() -> std::process::ExitCode {
    surrealdb_server::init(surrealdb_server::core::CommunityComposer())
}
