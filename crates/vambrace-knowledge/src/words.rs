//! From what a caller asks to what the full-text index is asked. Every word is quoted, so nothing of the
//! index's own language is obeyed.

/// LIMIT: more words make a question no better.
const MOST_WORDS: usize = 32;

/// English words that nearly every text holds; they count only when nothing else is asked for.
const COMMON: [&str; 28] = [
    "a", "an", "and", "are", "at", "do", "does", "for", "how", "i", "in", "is", "it", "of", "on", "or",
    "our", "the", "to", "was", "we", "what", "when", "where", "which", "who", "with", "you",
];

/// How a word has to stand in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    Whole,
    Beginning,
}

/// Any of the words; the index ranks texts that hold more of them higher. `None` when there is no word at
/// all.
pub(crate) fn expression(query: &str, fit: Fit) -> Option<String> {
    let words = words(query);
    let mut relatives: Vec<String> = words.iter().flat_map(|word| relatives(word)).collect();
    relatives.sort_unstable();
    relatives.dedup();
    relatives.retain(|relative| !words.contains(relative));
    let star = match fit {
        Fit::Whole => "",
        Fit::Beginning => "*",
    };
    let terms: Vec<String> = words.iter().chain(&relatives).map(|word| format!("\"{word}\"{star}")).collect();
    (!terms.is_empty()).then(|| terms.join(" OR "))
}

/// Forms that the index's stemmer takes for other words: it makes `deploi` of `deploy` and `deploying`, but `deploy` of
/// `deployment` and `deployer`.
fn relatives(word: &str) -> Vec<String> {
    let is_stem =
        |stem: &str| stem.len() > 2 && ["ay", "ey", "oy", "uy"].iter().any(|end| stem.ends_with(end));
    let ends = ["ments", "ment", "ers", "er", "able", "ing", "ed", "s", ""];
    let stem = ends.iter().filter_map(|end| word.strip_suffix(end)).find(|stem| is_stem(stem));
    let forms = stem.map(|stem| [stem.to_owned(), format!("{stem}ment")]);
    forms.into_iter().flatten().filter(|form| form != word).collect()
}

fn words(query: &str) -> Vec<String> {
    // A quotation mark is punctuation, so none is left inside a word.
    let border = |c: char| c.is_whitespace() || c.is_ascii_punctuation() || c.is_control();
    let mut all: Vec<String> = Vec::new();
    for word in query.split(border).filter(|word| word.contains(char::is_alphanumeric)) {
        let word = word.to_lowercase();
        if all.len() < MOST_WORDS && !all.contains(&word) {
            all.push(word);
        }
    }
    if all.iter().any(|word| !COMMON.contains(&word.as_str())) {
        all.retain(|word| !COMMON.contains(&word.as_str()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: Option<&str>) {
        assert_eq!(expression(query, Fit::Whole).as_deref(), expected, "{query:?}");
    }

    #[test]
    fn only_words_are_left() {
        check("When do we release?", Some("\"release\""));
        check("When do we deploy?", Some("\"deploy\" OR \"deployment\""));
        check("our deployment process", Some("\"deployment\" OR \"process\" OR \"deploy\""));
        check("paper pay ayer", Some("\"paper\" OR \"pay\" OR \"ayer\" OR \"payment\""));
        check("who is who", Some("\"who\" OR \"is\"")); // nothing else is asked for
        check("release Release RELEASE", Some("\"release\""));
        check(
            "text:secret NEAR(a b) -x* ^y",
            Some("\"text\" OR \"secret\" OR \"near\" OR \"b\" OR \"x\" OR \"y\""),
        );
        check("\"quoted\" OR 1=1; --", Some("\"quoted\" OR \"1\""));
        check("Größe 漢字 naïve", Some("\"größe\" OR \"漢字\" OR \"naïve\""));
        check("", None);
        check("?! … «»", None);
    }

    #[test]
    fn a_long_question_is_bounded() {
        let query: String = (0..1000).map(|n| format!("w{n} ")).collect();
        assert_eq!(expression(&query, Fit::Beginning).unwrap().matches(" OR ").count(), MOST_WORDS - 1);
    }
}
