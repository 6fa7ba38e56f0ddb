//! Ids and bytes from the system's randomness: the one place where the service rolls dice.

use uuid::Uuid;

/// A fresh id of any kind.
pub(crate) fn id<T: From<Uuid>>() -> T {
    T::from(Uuid::new_v4())
}

/// An endless source of random bytes, asked of the system a few at a time.
pub(crate) fn bytes() -> impl FnMut() -> u8 {
    let mut buffer = [0_u8; 64];
    let mut used = buffer.len();
    move || {
        if used == buffer.len() {
            getrandom::fill(&mut buffer).expect("the operating system has a source of randomness");
            used = 0;
        }
        used += 1;
        buffer[used - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_goes_on_beyond_its_buffer_without_repeating_it() {
        let mut next = bytes();
        let (first, second): (Vec<u8>, Vec<u8>) =
            ((0..64).map(|_| next()).collect(), (0..64).map(|_| next()).collect());
        assert_ne!(first, second);
    }
}
