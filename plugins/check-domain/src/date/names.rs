//! Names of months, weekdays and time zones, folded to lower case without accents.
//!
//! Names that mean different months in two languages (`listopad`), and zones that mean different
//! hours on two continents (`cst`, `ist`, `bst`), are left out.

/// Whether a folded word names a month.
pub(crate) fn is_month(word: &str) -> bool {
    month(word).is_some()
}

/// Whether a folded word names a weekday in English.
pub(crate) fn is_weekday(word: &str) -> bool {
    matches!(
        word,
        "mon"
            | "tue"
            | "tues"
            | "wed"
            | "thu"
            | "thur"
            | "thurs"
            | "fri"
            | "sat"
            | "sun"
            | "monday"
            | "tuesday"
            | "wednesday"
            | "thursday"
            | "friday"
            | "saturday"
            | "sunday"
    )
}

/// The month that a folded word names, 1 to 12.
pub(super) fn month(word: &str) -> Option<u32> {
    MONTHS
        .iter()
        .position(|names| names.split(' ').any(|name| name == word))
        .and_then(|index| u32::try_from(index + 1).ok())
}

/// Minutes east of Greenwich of a zone's folded abbreviation.
pub(super) fn zone(word: &str) -> Option<i64> {
    ZONES.iter().find(|(_, names)| names.split(' ').any(|name| name == word)).map(|zone| zone.0)
}

/// One line per month: English, then the other languages.
const MONTHS: [&str; 12] = [
    "jan january janv janvier ene enero janeiro gen gennaio januar januari janner jaenner \
     tammikuu tammikuuta stycznia styczen ledna leden ocak oca ianuarie sijecnja januara \
     jaanuar sausio januaris января январь янв січня",
    "feb february fevr fev fevrier febrero fevereiro febbraio februar februari helmikuu \
     helmikuuta lutego luty unora unor subat februarie veljace februara veebruar vasario \
     februaris февраля февраль фев лютого",
    "mar march mars marzo marco marz maerz mrz maart mrt maaliskuu maaliskuuta marca marzec \
     brezna brezen mart martie ozujka marta marts kovo марта март мар березня",
    "apr april avr avril abr abril aprile aprilie huhtikuu huhtikuuta kwietnia kwiecien dubna \
     duben nisan nis travnja aprila aprill aprilis balandzio апреля апрель апр квітня",
    "may mayo mai maio mag maggio mei maj maja toukokuu toukokuuta kvetna kveten mayis svibnja \
     maijs geguzes мая май травня",
    "jun june juin junio junho giu giugno juni kesakuu kesakuuta czerwca czerwiec cervna cerven \
     haziran haz iunie lipnja juna juuni junijs birzelio июня июнь июн червня",
    "jul july juil juillet julio julho lug luglio juli heinakuu heinakuuta lipca lipiec cervence \
     cervenec temmuz tem iulie srpnja jula juuli julijs liepos июля июль июл липня",
    "aug august aout ago agosto augustus augusti elokuu elokuuta sierpnia sierpien srpna srpen \
     agustos agu kolovoza avgusta avgust augusts rugpjucio августа август авг серпня",
    "sep sept september septembre septiembre setiembre set setembro settembre syyskuu syyskuuta \
     wrzesnia wrzesien zari eylul eyl septembrie rujna septembra septembris rugsejo сентября \
     сентябрь сен сент вересня",
    "oct october octobre octubre out outubro ott ottobre okt oktober lokakuu lokakuuta \
     pazdziernika pazdziernik rijna rijen ekim eki octombrie oktobra oktoober oktobris spalio \
     октября октябрь окт жовтня",
    "nov november novembre noviembre novembro marraskuu marraskuuta kasim kas noiembrie \
     studenoga novembra novembris lapkricio ноября ноябрь ноя",
    "dec december decembre dic diciembre dez dezembro dezember dicembre des desember joulukuu \
     joulukuuta grudnia grudzien prosince prosinec aralik ara decembrie prosinca decembra \
     detsember decembris gruodzio декабря декабрь дек грудня",
];

const ZONES: &[(i64, &str)] = &[
    (-600, "hst"),
    (-540, "akst"),
    (-480, "pst akdt"),
    (-420, "pdt"),
    (-360, "mdt"),
    (-300, "est cdt cot pet"),
    (-240, "edt clt vet bot"),
    (-180, "brt clst uyt adt"),
    (0, "z utc gmt ut wet"),
    (60, "cet met mez west wat"),
    (120, "cest mest mesz eet sast cat"),
    (180, "eest msk trt eat idt"),
    (210, "irst"),
    (240, "msd"),
    (300, "uzt"),
    (345, "npt"),
    (420, "wib ict"),
    (480, "hkt sgt myt pht awst wita"),
    (540, "jst kst"),
    (570, "acst"),
    (600, "aest"),
    (660, "aedt"),
    (720, "nzst"),
    (780, "nzdt"),
];
