//! Three linkers for one plugin, from all to nothing: what is not linked cannot be called.

use wasmtime::{
    Engine, Result,
    component::{Component, HasSelf, Linker},
};

use crate::{
    bindings::check::vedette::{env, net},
    grants::Capabilities,
    host::Guest,
};

/// For `run`: log, clock and what is granted. An import that is not granted does not link.
pub(crate) fn live(engine: &Engine, grants: &Capabilities) -> Result<Linker<Guest>> {
    let mut linker = quiet(engine)?;
    let to = &mut linker;
    if grants.dns.is_some() {
        net::dns::add_to_linker::<_, HasSelf<Guest>>(to, itself)?;
    }
    if grants.examines() {
        net::x509::add_to_linker::<_, HasSelf<Guest>>(to, itself)?;
    }
    if grants.tls.is_some() {
        net::tls::add_to_linker::<_, HasSelf<Guest>>(to, itself)?;
    }
    if grants.http.is_some() {
        net::http::add_to_linker::<_, HasSelf<Guest>>(to, itself)?;
    }
    if grants.tcp.is_some() {
        net::tcp::add_to_linker::<_, HasSelf<Guest>>(to, itself)?;
    }
    if grants.state.is_some() {
        env::state::add_to_linker::<_, HasSelf<Guest>>(to, itself)?;
    }
    if !grants.secrets.is_empty() {
        env::secrets::add_to_linker::<_, HasSelf<Guest>>(to, itself)?;
    }
    if grants.random {
        env::random::add_to_linker::<_, HasSelf<Guest>>(to, itself)?;
    }
    Ok(linker)
}

/// For `validate`, `assess`, `render` and `interpret`: log and clock answer, all else traps.
pub(crate) fn pure(engine: &Engine, component: &Component) -> Result<Linker<Guest>> {
    let mut linker = quiet(engine)?;
    linker.define_unknown_imports_as_traps(component)?;
    Ok(linker)
}

/// For `describe`: everything traps.
pub(crate) fn nothing(engine: &Engine, component: &Component) -> Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    linker.define_unknown_imports_as_traps(component)?;
    Ok(linker)
}

fn quiet(engine: &Engine) -> Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    env::log::add_to_linker::<_, HasSelf<Guest>>(&mut linker, itself)?;
    env::clock::add_to_linker::<_, HasSelf<Guest>>(&mut linker, itself)?;
    Ok(linker)
}

fn itself(guest: &mut Guest) -> &mut Guest {
    guest
}
