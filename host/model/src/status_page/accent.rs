//! The owner's colour, where it stays readable.
//!
//! Contrast as WCAG 2 counts it: 4.5 between text and what is behind it.

/// A colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour([u8; 3]);

impl Colour {
    /// `#rgb` or `#rrggbb`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let part = |range| u8::from_str_radix(&digits[range], 16).ok();
        match digits.len() {
            3 => Some(Self([part(0..1)? * 17, part(1..2)? * 17, part(2..3)? * 17])),
            6 => Some(Self([part(0..2)?, part(2..4)?, part(4..6)?])),
            _ => None,
        }
    }

    /// The same hue, moved towards black or white until text in it can be read on `background`.
    #[must_use]
    pub fn readable_on(self, background: Self) -> Self {
        let towards = if background.luminance() > 0.18 { Self::BLACK } else { Self::WHITE };
        let mut steps = (0..=STEPS).map(|step| self.mixed(towards, step));
        steps.find(|colour| colour.contrast(background) >= READABLE).unwrap_or(towards)
    }

    /// 1 to 21.
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// `step` parts of `other`, the rest of this.
    fn mixed(self, other: Self, step: u16) -> Self {
        let mix = |own: u8, other: u8| {
            let sum = u16::from(own) * (STEPS - step) + u16::from(other) * step;
            u8::try_from(sum / STEPS).unwrap_or(u8::MAX)
        };
        let ([red, green, blue], other) = (self.0, other.0);
        Self([mix(red, other[0]), mix(green, other[1]), mix(blue, other[2])])
    }

    const BLACK: Self = Self([0; 3]);
    const WHITE: Self = Self([255; 3]);
}

impl std::fmt::Display for Colour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

const READABLE: f64 = 4.5;
const STEPS: u16 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(text: &str) -> Colour {
        Colour::parse(text).unwrap()
    }

    #[test]
    fn short_and_long_notation_are_read_and_nothing_else_is() {
        assert_eq!(colour("#26e"), colour("#2266EE"));
        assert_eq!(colour("#2f6feb").to_string(), "#2f6feb");
        for text in ["", "#", "26e", "#26", "#2266e", "#2266eeff", "#ggg", "red", "#+1f", "#é1"] {
            assert_eq!(Colour::parse(text), None, "{text}");
        }
    }

    #[test]
    fn contrast_is_what_the_standard_says() {
        for (one, two, expected) in [
            ("#000", "#fff", 21.0),
            ("#fff", "#fff", 1.0),
            ("#777777", "#ffffff", 4.48),
            ("#767676", "#ffffff", 4.54),
            ("#ff0000", "#ffffff", 4.0),
        ] {
            let found = colour(one).contrast(colour(two));
            assert!((found - expected).abs() < 0.01, "{one} on {two}: {found}");
        }
    }

    #[test]
    fn every_accent_can_be_read_on_every_ground() {
        let parts = [0, 51, 102, 153, 204, 255];
        for ground in ["#ffffff", "#f6f7f9", "#15181d", "#0d0f12"].map(colour) {
            for red in parts {
                for green in parts {
                    for blue in parts {
                        let accent = Colour([red, green, blue]).readable_on(ground);
                        assert!(accent.contrast(ground) >= READABLE, "{accent} on {ground}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_can_be_read_already_stays_as_it_is() {
        assert_eq!(colour("#1a56db").readable_on(colour("#fff")), colour("#1a56db"));
        assert_eq!(colour("#ffcc00").readable_on(colour("#15181d")), colour("#ffcc00"));
    }
}
