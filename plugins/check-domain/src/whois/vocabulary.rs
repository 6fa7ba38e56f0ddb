//! The words of date labels, folded ([`super::words`]): English first, then the languages of the
//! registries.
//!
//! A word that is in none of these lists keeps a label from being that of a date.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a word does in the label of a date: a set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    /// The registration ends: each of these is enough.
    pub(super) const EXPIRY: Kinds = Kinds(1);
    /// With [`Kinds::UNTIL`], the registration ends: `paid-till`, `valid until`.
    pub(super) const LASTS: Kinds = Kinds(2);
    pub(super) const UNTIL: Kinds = Kinds(4);
    /// With any other word, the registration ends: `end date`.
    pub(super) const ENDS: Kinds = Kinds(8);
    /// The registration is paid until then.
    pub(super) const RENEWAL: Kinds = Kinds(16);
    /// The registration began.
    pub(super) const CREATED: Kinds = Kinds(32);
    /// The registration changed.
    pub(super) const CHANGED: Kinds = Kinds(64);
    /// The word leaves the meaning of the label as it is.
    pub(super) const NEUTRAL: Kinds = Kinds(128);
    /// Everything that a label of an expiry may be made of, beside neutral words.
    pub(super) const OF_EXPIRY: Kinds = Kinds(1 | 2 | 4 | 8 | 16);

    pub(super) fn of(word: &str) -> Kinds {
        let listed = KINDS.get(word).copied().unwrap_or_default();
        if word.starts_with("expir") { Kinds(listed.0 | Kinds::EXPIRY.0) } else { listed }
    }

    /// Whether one of these kinds is among its own.
    pub(super) fn has(self, kinds: Kinds) -> bool {
        self.0 & kinds.0 != 0
    }
}

static KINDS: LazyLock<BTreeMap<&'static str, Kinds>> = LazyLock::new(|| {
    let mut kinds: BTreeMap<&'static str, Kinds> = BTreeMap::new();
    for (list, kind) in [
        (EXPIRY, Kinds::EXPIRY),
        (LASTS, Kinds::LASTS),
        (UNTIL, Kinds::UNTIL),
        (ENDS, Kinds::ENDS),
        (RENEWAL, Kinds::RENEWAL),
        (CREATED, Kinds::CREATED),
        (CHANGED, Kinds::CHANGED),
        (NEUTRAL, Kinds::NEUTRAL),
    ] {
        for word in list {
            kinds.entry(word).or_default().0 |= kind.0;
        }
    }
    kinds
});

/// Words that begin with `expir` need no entry.
const EXPIRY: &[&str] = &[
    "exp",
    "validity",
    // Spanish, Portuguese, French, Italian, Romanian.
    "caduca",
    "caducidad",
    "echeance",
    "scade",
    "scadenza",
    "validade",
    "validez",
    "validita",
    "validite",
    "vence",
    "vencimento",
    "vencimiento",
    "vigencia",
    // German, Dutch, Swedish, Danish, Norwegian, Icelandic.
    "ablauf",
    "ablaufdatum",
    "forfallodatum",
    "udlober",
    "udlobsdato",
    "utgangsdatum",
    "utgar",
    "utloper",
    "utlopsdato",
    "verfallsdatum",
    "verloopdatum",
    "verloopt",
    "vervaldatum",
    // Finnish, Estonian, Latvian, Lithuanian, Hungarian.
    "aegub",
    "aegumine",
    "derigums",
    "ervenyesseg",
    "galiojimo",
    "lejarat",
    "lejarata",
    "paattyminen",
    "paattymispaiva",
    "paattyy",
    "vanhenee",
    "vanhenemispaiva",
    // Polish, Czech, Slovak, Slovene, Croatian, Serbian.
    "isteka",
    "istece",
    "istice",
    "istjece",
    "platnost",
    "potece",
    "vyprsi",
    "waznosci",
    "wygasa",
    "wygasniecia",
    // Turkish, Azerbaijani, Vietnamese, Indonesian, Malay.
    "berakhir",
    "bitis",
    "bitme",
    "erme",
    "gecerlilik",
    "han",
    "kadaluarsa",
    "kedaluwarsa",
    "luput",
    "tamat",
    // Russian, Ukrainian, Bulgarian, Serbian, Greek.
    "действия",
    "закінчення",
    "закінчується",
    "изтича",
    "истекает",
    "истечения",
    "истиче",
    "окончание",
    "окончания",
    "ληξη",
    "ληξης",
    // Chinese, Japanese, Korean, Thai, Arabic, Hebrew, Persian.
    "到期",
    "到期日",
    "到期日期",
    "到期时间",
    "到期時間",
    "失效时间",
    "截止日期",
    "有效期",
    "有效期至",
    "有効期限",
    "有効限",
    "期满日期",
    "过期日期",
    "过期时间",
    "過期日期",
    "만기일",
    "만료일",
    "종료일",
    "วันหมดอายุ",
    "หมดอายุ",
    "الانتهاء",
    "انتهاء",
    "ينتهي",
    "תוקף",
    "פקיעה",
    "انقضا",
];

const LASTS: &[&str] = &[
    "active",
    "bezahlt",
    "deriga",
    "ervenyes",
    "galioja",
    "geldig",
    "gecerli",
    "giltig",
    "gultig",
    "gueltig",
    "gyldig",
    "kehtib",
    "oplacona",
    "oplacony",
    "paid",
    "pago",
    "pagado",
    "platna",
    "platny",
    "prepaid",
    "valable",
    "valid",
    "valida",
    "valide",
    "valido",
    "velja",
    "vigente",
    "voimassa",
    "wazna",
    "wazny",
    "важи",
    "дійсний",
    "действителен",
    "оплачен",
    "оплачено",
];

const UNTIL: &[&str] = &[
    "asti", "ate", "bis", "do", "fino", "hasta", "iki", "jusqu", "kadar", "kuni", "lidz", "saakka",
    "through", "thru", "til", "till", "to", "tom", "tot", "until", "upto", "до",
];

const ENDS: &[&str] = &["end", "ending", "ends", "lauft", "laeuft"];

const RENEWAL: &[&str] =
    &["renew", "renewal", "renewaldate", "renovacion", "renovacao", "yenileme", "verlangerung"];

const CREATED: &[&str] = &[
    "activated",
    "activation",
    "assigned",
    "commencement",
    "connected",
    "creacion",
    "created",
    "creation",
    "criacao",
    "criado",
    "creazione",
    "cree",
    "delegated",
    "erstellt",
    "first",
    "kayit",
    "olusturulma",
    "original",
    "registrerad",
    "registreeritud",
    "rekisteroity",
    "skapad",
    "utworzenia",
    "utworzona",
    "закрепления",
    "создан",
    "создания",
    "створено",
    "登録年月日",
    "登録日",
    "注册日期",
    "注册时间",
    "등록일",
];

const CHANGED: &[&str] = &[
    "actualizacion",
    "atualizacao",
    "aggiornamento",
    "change",
    "changed",
    "geandert",
    "guncelleme",
    "last",
    "lastupdate",
    "modif",
    "modification",
    "modified",
    "modificacion",
    "modyfikacji",
    "update",
    "updated",
    "ultima",
    "ultimo",
    "изменено",
    "обновлено",
    "最終更新",
    "更新时间",
];

const NEUTRAL: &[&str] = &[
    // English.
    "a",
    "and",
    "at",
    "be",
    "by",
    "current",
    "currently",
    "date",
    "dates",
    "datetime",
    "day",
    "domain",
    "domainname",
    "domains",
    "due",
    "for",
    "gmt",
    "has",
    "in",
    "is",
    "it",
    "its",
    "name",
    "names",
    "next",
    "of",
    "on",
    "period",
    "record",
    "registered",
    "registrar",
    "registration",
    "registry",
    "s",
    "service",
    "sponsoring",
    "that",
    "the",
    "this",
    "time",
    "timestamp",
    "utc",
    "which",
    "will",
    "your",
    // Spanish, Portuguese, French, Italian, Romanian.
    "al",
    "au",
    "d",
    "da",
    "data",
    "de",
    "del",
    "della",
    "des",
    "di",
    "do",
    "domaine",
    "dominio",
    "domeniu",
    "du",
    "el",
    "em",
    "enregistrement",
    "fecha",
    "il",
    "l",
    "la",
    "le",
    "nom",
    "nombre",
    "nome",
    "registro",
    "rinnovo",
    "termina",
    // German, Dutch, Swedish, Danish, Norwegian.
    "ab",
    "am",
    "das",
    "datum",
    "dato",
    "dem",
    "den",
    "der",
    "die",
    "domanen",
    "domene",
    "het",
    "op",
    "registrierung",
    "van",
    "och",
    // Finnish, Estonian, Latvian, Lithuanian, Hungarian.
    "datums",
    "domeeni",
    "ideje",
    "kuupaev",
    "pabaiga",
    "paiva",
    "termina",
    "terminas",
    // Polish, Czech, Slovak, Slovene, Croatian, Serbian.
    "dnia",
    "dne",
    "domena",
    "domene",
    "domenu",
    "domeny",
    "dzien",
    "koniec",
    "konec",
    "okresu",
    "rejestracji",
    "rozliczeniowego",
    "registracije",
    "veljavnosti",
    // Turkish, Vietnamese, Indonesian, Malay.
    "adi",
    "alan",
    "kayit",
    "luc",
    "ngay",
    "sona",
    "suresi",
    "tanggal",
    "tarih",
    "tarihi",
    "tarikh",
    // Russian, Ukrainian, Bulgarian, Greek.
    "дата",
    "домена",
    "домену",
    "регистрации",
    "реєстрації",
    "срок",
    "термін",
    "ημερομηνια",
    // Korean, Thai, Arabic, Hebrew, Persian.
    "사용",
    "등록",
    "도메인",
    "วันที่",
    "تاريخ",
    "תאריך",
    "تاریخ",
];
