//! Which names a glob means, as bash would say it with its options untouched: a leading dot only where one is written,
//! `/` separates, links are shown and not followed out of the root. What may not be read is not named either.
//!
//! It knows words of a command and folders; it knows no program and no rule for arguments.

mod set;

use std::collections::BTreeSet;

use rustix::fs::{Dir, FileType};
use vambrace_policy::command::{Word, WordPart};
use vambrace_policy::{Access, Withheld};
use vambrace_types::ScopedPath;

use crate::list::EntryKind;
use crate::open::Opener;
use crate::{Files, FilesError};

/// LIMIT: a command of more words helps nobody, and the kernel takes only so many.
const MOST_MATCHES: usize = 4096;
/// LIMIT: how many names are looked at for one word.
const MOST_ENTRIES: usize = 100_000;

impl Files {
    /// The names that the word means in this folder, sorted by their bytes; the word as it was written if there is none.
    /// A name that does not begin like a plain name gets `./`, so that a file called `-delete` is never an option.
    pub fn expand(
        &self,
        folder: &ScopedPath,
        word: &Word,
        withheld: &Withheld,
    ) -> Result<Vec<String>, FilesError> {
        self.expand_within(folder, word, withheld, &mut { MOST_ENTRIES })
    }

    /// The same, for one of several words that may look at so many names together; what was looked at is taken off.
    pub fn expand_within(
        &self,
        folder: &ScopedPath,
        word: &Word,
        withheld: &Withheld,
        entries_left: &mut usize,
    ) -> Result<Vec<String>, FilesError> {
        let opener = self.opener(withheld);
        let limit = (*entries_left).min(MOST_ENTRIES);
        let mut search = Search { opener, written: word.spelled(), n_entries: 0, limit };
        let found = Pattern::of(word, folder, opener).map(|pattern| search.run(pattern));
        *entries_left = entries_left.saturating_sub(search.n_entries);
        let found = found.transpose()?.unwrap_or_default();
        if found.is_empty() {
            return Ok(vec![search.written]);
        }
        Ok(found.into_iter().map(marked).collect())
    }

    /// What stands at a path, links followed, as far as it may be read.
    pub fn kind(&self, path: &ScopedPath) -> Option<EntryKind> {
        let withheld = Withheld::default();
        let opened = self.opener(&withheld).glance(path, Access::Read).ok()?;
        Some(EntryKind::of(FileType::from_raw_mode(opened.stat.st_mode)))
    }
}

/// THREAT: P06, a file called `-delete`, `@options`, `+x`, `(`, `!` or `:(top)`: programs give such beginnings a meaning. To awk,
/// `FS=x` is no file either.
fn marked(name: String) -> String {
    let is_plain =
        |first: char| first.is_ascii_digit() || first.is_alphabetic() || matches!(first, '_' | '.' | '/');
    let is_assignment = name.split('/').next().is_some_and(|first| first.contains('='));
    if name.starts_with(is_plain) && !is_assignment { name } else { format!("./{name}") }
}

/// One part of a pattern between slashes.
type Component = Vec<WordPart>;

/// A pattern whose plain beginning has been walked already.
struct Pattern {
    base: Place,
    /// Never empty; empty components stand for doubled slashes and were taken out.
    rest: Vec<Component>,
    /// It ends with a slash, so only folders are meant.
    only_folders: bool,
}

/// A path and how the match spells it so far, with its slash.
#[derive(Clone)]
struct Place {
    path: ScopedPath,
    spelled: String,
}

impl Pattern {
    /// `None` where nothing beneath the root can be meant.
    fn of(word: &Word, folder: &ScopedPath, opener: Opener<'_>) -> Option<Pattern> {
        let mut components = split(&word.parts);
        let only_folders = components.last().is_some_and(Vec::is_empty) && components.len() > 1;
        let is_plain = |component: &Component| literal(component).is_some();
        let n_plain = components.iter().take_while(|component| is_plain(component)).count();
        let rest: Vec<Component> =
            components.split_off(n_plain).into_iter().filter(|part| !part.is_empty()).collect();
        let goes_up = |part: &Component| literal(part).is_some_and(|text| text == ".." || text == ".");
        if rest.is_empty() || rest.iter().any(goes_up) {
            return None;
        }
        let front: Vec<&str> = components.iter().filter_map(literal).collect();
        let spelled: String = front.iter().map(|part| format!("{part}/")).collect();
        let path = ScopedPath::beneath(folder, &spelled, opener.scope.bearings()).ok()?;
        Some(Pattern { base: Place { path, spelled }, rest, only_folders })
    }
}

/// At the slashes of its literals.
fn split(parts: &[WordPart]) -> Vec<Component> {
    let mut components = vec![Vec::new()];
    for part in parts {
        let WordPart::Literal(text) = part else {
            push(&mut components, part.clone());
            continue;
        };
        for (place, piece) in text.split('/').enumerate() {
            if place > 0 {
                components.push(Vec::new());
            }
            if !piece.is_empty() {
                push(&mut components, WordPart::Literal(piece.to_owned()));
            }
        }
    }
    components
}

fn push(components: &mut [Component], part: WordPart) {
    if let Some(last) = components.last_mut() {
        last.push(part);
    }
}

/// The text of a component that matches only itself.
fn literal(component: &Component) -> Option<&str> {
    match component.as_slice() {
        [] => Some(""),
        [WordPart::Literal(text)] => Some(text),
        [..] => None,
    }
}

struct Search<'a> {
    opener: Opener<'a>,
    written: String,
    n_entries: usize,
    limit: usize,
}

impl Search<'_> {
    fn run(&mut self, pattern: Pattern) -> Result<BTreeSet<String>, FilesError> {
        let mut places = vec![pattern.base];
        let n_components = pattern.rest.len();
        for (number, component) in pattern.rest.iter().enumerate() {
            let is_last = number + 1 == n_components;
            let mut next = Vec::new();
            for place in &places {
                for name in self.names(place, component)? {
                    let Some(found) = self.enter(place, &name, !is_last || pattern.only_folders) else {
                        continue;
                    };
                    if next.len() >= MOST_MATCHES {
                        return Err(self.too_wide(MOST_MATCHES, "names"));
                    }
                    next.push(found);
                }
            }
            places = next;
        }
        let slash = |place: Place| {
            let bare = place.spelled.strip_suffix('/').unwrap_or(&place.spelled);
            if pattern.only_folders { place.spelled } else { bare.to_owned() }
        };
        Ok(places.into_iter().map(slash).collect())
    }

    /// The place with one more name, unless it may not be read or is no folder where one is needed.
    fn enter(&self, place: &Place, name: &str, folder_needed: bool) -> Option<Place> {
        let path = place.path.join(name)?;
        self.opener.judge(&path, Access::Read).ok()?;
        if folder_needed {
            let opened = self.opener.glance(&path, Access::Read).ok()?;
            if EntryKind::of(FileType::from_raw_mode(opened.stat.st_mode)) != EntryKind::Folder {
                return None;
            }
        }
        Some(Place { path, spelled: format!("{}{name}/", place.spelled) })
    }

    /// What the component means in a folder. A folder that cannot be read holds nothing, as in bash.
    fn names(&mut self, place: &Place, component: &Component) -> Result<Vec<String>, FilesError> {
        let Ok(opened) = self.opener.folder(&place.path, Access::Read) else { return Ok(Vec::new()) };
        if let Some(name) = literal(component) {
            let there =
                rustix::fs::statat(&opened.handle, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok();
            return Ok(if there { vec![name.to_owned()] } else { Vec::new() });
        }
        let Ok(entries) = Dir::read_from(&opened.handle) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            self.n_entries += 1;
            if self.n_entries > self.limit {
                return Err(self.too_wide(self.limit, "names to look at"));
            }
            // LIMIT: a name that is no UTF-8 cannot be a word of a plan, so no glob means it.
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name != "." && name != ".." && matches(component, name) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn too_wide(&self, limit: usize, what: &'static str) -> FilesError {
        FilesError::TooWide { pattern: self.written.clone(), limit, what }
    }
}

/// One sign of a component: a letter that stands for itself, or a choice.
enum Sign<'a> {
    Letter(char),
    AnyChar,
    AnyText,
    OneOf(&'a str),
}

fn matches(component: &Component, name: &str) -> bool {
    let dotted = matches!(component.first(), Some(WordPart::Literal(text)) if text.starts_with('.'));
    if name.starts_with('.') && !dotted {
        return false;
    }
    let mut signs = Vec::new();
    for part in component {
        match part {
            WordPart::Literal(text) => signs.extend(text.chars().map(Sign::Letter)),
            WordPart::AnyChar => signs.push(Sign::AnyChar),
            WordPart::AnyText => signs.push(Sign::AnyText),
            WordPart::OneOf(set) => signs.push(Sign::OneOf(set)),
        }
    }
    let letters: Vec<char> = name.chars().collect();
    walk(&signs, &letters)
}

/// Goes back to the last `*` only: what an earlier one could still take, the last one can take too.
fn walk(signs: &[Sign<'_>], letters: &[char]) -> bool {
    let (mut at_sign, mut at_letter) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(letter) = letters.get(at_letter) {
        let fits = match signs.get(at_sign) {
            Some(Sign::AnyText) => {
                star = Some((at_sign, at_letter));
                at_sign += 1;
                continue;
            }
            Some(Sign::AnyChar) => true,
            Some(Sign::Letter(own)) => own == letter,
            Some(Sign::OneOf(text)) => set::holds(text, *letter),
            None => false,
        };
        if fits {
            at_sign += 1;
            at_letter += 1;
        } else if let Some((sign, taken)) = star {
            star = Some((sign, taken + 1));
            at_sign = sign + 1;
            at_letter = taken + 1;
        } else {
            return false;
        }
    }
    signs.get(at_sign..).unwrap_or_default().iter().all(|sign| matches!(sign, Sign::AnyText))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn star() -> WordPart {
        WordPart::AnyText
    }

    fn text(text: &str) -> WordPart {
        WordPart::Literal(text.to_owned())
    }

    #[track_caller]
    fn check(component: &[WordPart], name: &str, expected: bool) {
        assert_eq!(matches(&component.to_vec(), name), expected, "{component:?} {name}");
    }

    #[test]
    fn a_component_matches_whole_names() {
        check(&[star()], "a", true);
        check(&[star()], ".a", false);
        check(&[text("."), star()], ".a", true);
        check(&[WordPart::AnyChar, text("a")], ".a", false);
        check(&[WordPart::OneOf(".".to_owned()), text("a")], ".a", false);
        check(&[star(), text(".rs")], "a.rs", true);
        check(&[star(), text(".rs")], "a.rs.rs", true);
        check(&[star(), text(".rs")], "a.rsx", false);
        check(&[text("a"), star(), text("b"), star(), text("c")], "a-b-b-c", true);
        check(&[text("a"), star(), text("b"), star(), text("c")], "a-c-b", false);
        check(&[star(), star(), text("é")], "caféé", true);
        check(&[WordPart::AnyChar], "é", true);
        check(&[WordPart::OneOf("!a-c".to_owned()), star()], "d", true);
        check(&[WordPart::OneOf("!a-c".to_owned()), star()], "b", false);
    }

    #[test]
    fn many_stars_take_no_time() {
        let component: Component = (0..60).flat_map(|_| [star(), text("a")]).chain([text("b")]).collect();
        check(&component, &"a".repeat(255), false);
    }
}
