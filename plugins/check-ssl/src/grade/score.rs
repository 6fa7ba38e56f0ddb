//! The points: protocol 30 %, key exchange 30 %, cipher 40 %.

use super::{Facts, Key};
use vedette_sdk::client_hello::{SSL3, TLS10, TLS11};

use crate::result::Grade;

/// Out of 100. Each part is cut to whole points; one part of nothing is nothing at all.
pub(super) fn points(facts: &Facts) -> u32 {
    let protocol = protocol(facts.oldest) + protocol(facts.newest);
    let exchange = exchange(facts);
    let cipher = cipher(facts.weakest) + cipher(facts.strongest);
    if protocol == 0 || exchange == 0 || cipher == 0 {
        return 0;
    }
    // The first and the last are means of two.
    3 * protocol / 20 + 3 * exchange / 10 + 4 * cipher / 20
}

/// What the points alone are worth.
pub(super) fn letter(points: u32) -> Grade {
    match points {
        80.. => Grade::APlus,
        65.. => Grade::B,
        50.. => Grade::C,
        35.. => Grade::D,
        _ => Grade::F,
    }
}

fn protocol(version: u16) -> u32 {
    match version {
        SSL3 => 80,
        TLS10 => 90,
        TLS11 => 95,
        _ => 100,
    }
}

/// The weaker of the leaf's key and the group, where there is one.
fn exchange(facts: &Facts) -> u32 {
    let group = facts.group.map(|bits| key(Key::Modular(bits)));
    group.unwrap_or(100).min(key(facts.key))
}

fn key(key: Key) -> u32 {
    match key {
        Key::Modular(0..512) | Key::Curve(0..110) => 20,
        Key::Modular(512..1024) | Key::Curve(110..123) => 40,
        Key::Modular(1024..2048) | Key::Curve(123..163) => 80,
        Key::Modular(2048..4096) | Key::Curve(163..225) => 90,
        Key::Modular(4096..) | Key::Curve(225..) => 100,
    }
}

fn cipher(bits: u32) -> u32 {
    match bits {
        0 => 0,
        1..128 => 20,
        128..256 => 80,
        256.. => 100,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_begin_at_their_points() {
        for (points, grade) in [
            (100, Grade::APlus),
            (80, Grade::APlus),
            (79, Grade::B),
            (65, Grade::B),
            (64, Grade::C),
            (50, Grade::C),
            (49, Grade::D),
            (35, Grade::D),
            (34, Grade::F),
            (0, Grade::F),
        ] {
            assert_eq!(letter(points), grade, "{points}");
        }
    }

    #[test]
    fn keys_are_worth_what_their_kind_makes_of_their_size() {
        for (own, worth) in [
            (Key::Modular(511), 20),
            (Key::Modular(512), 40),
            (Key::Modular(1023), 40),
            (Key::Modular(1024), 80),
            (Key::Modular(2047), 80),
            (Key::Modular(2048), 90),
            (Key::Modular(4095), 90),
            (Key::Modular(4096), 100),
            (Key::Curve(109), 20),
            (Key::Curve(110), 40),
            (Key::Curve(123), 80),
            (Key::Curve(163), 90),
            (Key::Curve(224), 90),
            (Key::Curve(256), 100),
        ] {
            assert_eq!(key(own), worth, "{own:?}");
        }
    }

    #[test]
    fn ciphers_are_worth_their_bits() {
        for (bits, worth) in
            [(0, 0), (40, 20), (112, 20), (127, 20), (128, 80), (255, 80), (256, 100)]
        {
            assert_eq!(cipher(bits), worth, "{bits}");
        }
    }
}
