//! Words without their dress: lower case, without accents, one space between them.
//!
//! Labels and phrases of all registries are compared in this form, so `Date d'expiration`,
//! `DATE_D_EXPIRATION` and `dateDExpiration` are one label.

/// The words of a text, at most `max` of them, each at most 40 characters long. Everything but
/// letters and digits parts words, as does a capital after a small letter.
pub(crate) fn words(text: &str, max: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut length = 0;
    let mut is_after_small = false;
    for char in text.chars() {
        if is_accent(char) {
            continue;
        }
        let is_part = char.is_alphanumeric();
        if !is_part || (is_after_small && char.is_uppercase()) {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
                length = 0;
            }
            if words.len() >= max {
                return words;
            }
        }
        if is_part && length < LONGEST_WORD {
            fold(char, &mut word);
            length += 1;
        }
        is_after_small = char.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Adds a letter in lower case, without its accent.
pub(crate) fn fold(char: char, to: &mut String) {
    for small in char.to_lowercase() {
        match base(small) {
            Some(base) => to.push_str(base),
            None if is_accent(small) => {}
            None => to.push(small),
        }
    }
}

/// An accent that stands on its own, behind its letter.
fn is_accent(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

/// The Latin or Greek letter under an accent.
fn base(small: char) -> Option<&'static str> {
    Some(match small {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' | '\u{1ea0}'..='\u{1eb7}' => "a",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ə' | '\u{1eb8}'..='\u{1ec7}' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | '\u{1ec8}'..='\u{1ecb}' => "i",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' | '\u{1ecc}'..='\u{1ee3}' => "o",
        'ŕ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ț' => "t",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | '\u{1ee4}'..='\u{1ef1}' => {
            "u"
        }
        'ý' | 'ÿ' | '\u{1ef2}'..='\u{1ef9}' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'æ' => "ae",
        'œ' => "oe",
        'ά' => "α",
        'έ' => "ε",
        'ή' => "η",
        'ί' => "ι",
        'ό' => "ο",
        'ύ' => "υ",
        'ώ' => "ω",
        _ => return None,
    })
}

const LONGEST_WORD: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_label_has_one_form() {
        for (text, expected) in [
            ("Registry Expiry Date", "registry expiry date"),
            ("expire-date", "expire date"),
            ("Expiration_Date", "expiration date"),
            ("expirationDate", "expiration date"),
            ("Date d'expiration", "date d expiration"),
            ("Bitiş Tarihi", "bitis tarihi"),
            ("BİTİŞ", "bitis"),
            ("Läuft ab am", "lauft ab am"),
            ("Ważny do", "wazny do"),
            ("Ngày hết hạn", "ngay het han"),
            ("Ημερομηνία λήξης", "ημερομηνια ληξης"),
            ("e\u{301}che\u{301}ance", "echeance"),
            ("有効期限", "有効期限"),
            ("Domain Name.......", "domain name"),
            ("", ""),
            (" ... ", ""),
        ] {
            assert_eq!(words(text, 12).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(words(&"word ".repeat(1000), 5).len(), 5);
        assert_eq!(words(&"x".repeat(1000), 5), ["x".repeat(LONGEST_WORD)]);
    }
}
