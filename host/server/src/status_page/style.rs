//! The built-in style, and the owner's accent colour where it can be read.

use vedette_model::status_page::accent::Colour;

/// As it comes, for pages that are nobody's.
pub(crate) fn plain() -> &'static str {
    STYLE
}

/// The accent paints the line at the top as it is; links have the nearest colour that can be read
/// on the ground they stand on, light or dark.
pub(super) fn with_accent(accent: Option<&str>) -> String {
    let Some(accent) = accent.and_then(Colour::parse) else { return STYLE.to_owned() };
    let on = |ground: &str| {
        let ground = Colour::parse(ground).expect("the grounds are colours");
        accent.readable_on(ground)
    };
    format!(
        "{STYLE}:root{{--line:{accent};--accent:{}}}\
         @media(prefers-color-scheme:dark){{:root{{--accent:{}}}}}\n",
        on(LIGHT),
        on(DARK)
    )
}

const STYLE: &str = include_str!("style.css");
/// The grounds of the style sheet that are hardest to read on: in light the darker one, in dark
/// the lighter one.
const LIGHT: &str = "#f5f6f8";
const DARK: &str = "#171b22";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grounds_are_those_of_the_style_sheet() {
        for ground in [LIGHT, DARK] {
            assert!(STYLE.contains(ground), "{ground}");
        }
    }

    /// What bars need beside what is behind them, as WCAG 2.1 has it (1.4.11): 3 to 1. The pale
    /// ground of days that were down says nothing that the bar on it does not.
    #[test]
    fn bars_can_be_seen_on_both_grounds_in_light_and_dark() {
        let (light, dark) = STYLE.split_once("@media(prefers-color-scheme:dark)").unwrap();
        for (scheme, sheet) in [("light", light), ("dark", dark)] {
            let colour = |name: &str| {
                let value = sheet.split_once(&format!("--{name}:")).unwrap().1;
                Colour::parse(value.split([';', '}']).next().unwrap()).unwrap()
            };
            let bars = ["ok", "slow", "down", "none", "empty"];
            let bars = bars.map(|state| (state, colour(&format!("{state}-bar"))));
            for (state, bar) in bars {
                for ground in ["ground", "card"] {
                    let contrast = bar.contrast(colour(ground));
                    assert!(contrast >= 3.0, "{state} on {ground} in {scheme}: {contrast}");
                }
                let same = bars.iter().filter(|(_, other)| *other == bar).count();
                assert_eq!(same, 1, "{state} in {scheme} has a colour of its own");
            }
        }
    }

    #[test]
    fn style_fits_the_policy_and_ends_whole() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
        assert_eq!(STYLE.matches('{').count(), STYLE.matches('}').count());
        let yellow = with_accent(Some("#fc0"));
        assert!(yellow.contains("--line:#ffcc00") && !yellow.contains("--accent:#ffcc00}@media"));
        assert_eq!(with_accent(Some("red")), STYLE);
        assert_eq!(with_accent(None), STYLE);
    }
}
