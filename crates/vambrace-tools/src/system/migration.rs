//! Configuration files and their versions: ordered steps from one version to the next, made on the text itself, so that
//! comments and order stay. Pure; who reads and writes the file is none of its business.

/// A step makes version `to` out of the one before it.
struct Step {
    to: u64,
    what: &'static str,
    apply: fn(Form, &str) -> Option<String>,
}

/// In their order, without gaps. Files from before versions count as version 0.
const STEPS: &[Step] = &[Step {
    to: 1,
    what: "says which version the file has",
    apply: |form, text| form.with_version(text, 1),
}];

/// How a file is written, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Also JSON5, and YAML that begins with a brace.
    Braces,
    Yaml,
    Toml,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Migrated {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) text: String,
    pub(crate) steps: Vec<&'static str>,
}

/// Which "no" it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MigrationProblem {
    UnknownTarget {
        target: u64,
        newest: u64,
    },
    Downgrade {
        from: u64,
        target: u64,
    },
    /// The file says a version that nobody knows.
    UnknownVersion {
        said: String,
    },
    UnknownForm,
    /// A step found nothing to hold on to.
    NotUnderstood,
}

pub(crate) fn newest() -> u64 {
    STEPS.last().map_or(0, |step| step.to)
}

pub(crate) fn migrate(name: &str, text: &str, target: u64) -> Result<Migrated, MigrationProblem> {
    let form = Form::of(name, text).ok_or(MigrationProblem::UnknownForm)?;
    let from = match form.version(text) {
        None => 0,
        Some(said) => match said.parse() {
            Ok(version) if version <= newest() => version,
            Ok(_) | Err(_) => return Err(MigrationProblem::UnknownVersion { said }),
        },
    };
    if target > newest() {
        return Err(MigrationProblem::UnknownTarget { target, newest: newest() });
    }
    if target < from {
        return Err(MigrationProblem::Downgrade { from, target });
    }
    let mut migrated = Migrated { from, to: target, text: text.to_owned(), steps: Vec::new() };
    for step in STEPS.iter().filter(|step| step.to > from && step.to <= target) {
        migrated.text = (step.apply)(form, &migrated.text).ok_or(MigrationProblem::NotUnderstood)?;
        migrated.steps.push(step.what);
    }
    Ok(migrated)
}

impl Form {
    fn of(name: &str, text: &str) -> Option<Form> {
        let begins_with_brace =
            text.lines().find(|line| is_meaningful(line)).is_some_and(|line| line.starts_with('{'));
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "json" | "json5" => Some(Form::Braces),
            "yaml" | "yml" if begins_with_brace => Some(Form::Braces),
            "yaml" | "yml" => Some(Form::Yaml),
            "toml" => Some(Form::Toml),
            _ => None,
        }
    }

    /// What the file says, as it says it.
    fn version(self, text: &str) -> Option<String> {
        let behind = |line: &str, sign: char| {
            let (key, value) = line.split_once(sign)?;
            let value = value.split('#').next().unwrap_or_default();
            (unquoted(key) == "version").then(|| unquoted(value).to_owned())
        };
        match self {
            Form::Braces => braces_version(text),
            Form::Yaml => {
                text.lines().filter(|line| !line.starts_with([' ', '\t'])).find_map(|line| behind(line, ':'))
            }
            Form::Toml => {
                let top = text.lines().take_while(|line| !line.trim_start().starts_with('['));
                top.filter(|line| is_meaningful(line)).find_map(|line| behind(line, '='))
            }
        }
    }

    fn with_version(self, text: &str, version: u64) -> Option<String> {
        let (place, line) = match self {
            Form::Braces => {
                let place = Scan::new(text).find(|(_, depth, letter)| *depth == 1 && *letter == '{')?.0 + 1;
                let rest = text.get(place..)?;
                let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
                (place, format!("\n  \"version\": {version}{comma}"))
            }
            Form::Yaml => (first_meaningful(text), format!("version: {version}\n")),
            Form::Toml => (first_meaningful(text), format!("version = {version}\n")),
        };
        let (before, behind) = text.split_at_checked(place)?;
        let gap = if before.is_empty() || before.ends_with('\n') || self == Form::Braces { "" } else { "\n" };
        Some(format!("{before}{gap}{line}{behind}"))
    }
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_end_matches(',').trim_matches(['"', '\''])
}

/// Neither empty nor a comment nor YAML's marks at the top.
fn is_meaningful(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#') && !line.starts_with('%') && line != "---"
}

fn first_meaningful(text: &str) -> usize {
    text.split_inclusive('\n').take_while(|line| !is_meaningful(line)).map(str::len).sum()
}

/// The value of a key `version` of the outermost object.
fn braces_version(text: &str) -> Option<String> {
    // Where a key of the outermost object may begin: behind its brace, and behind each comma in it.
    let starts = Scan::new(text).filter(|(_, depth, letter)| *depth == 1 && matches!(letter, '{' | ','));
    starts.into_iter().find_map(|(place, _, _)| {
        let rest = without_comments(text.get(place + 1..)?);
        let (key, value) = rest.split_once(':')?;
        let value = value.split([',', '}', '\n']).next().unwrap_or_default();
        let value = value.split("//").next().unwrap_or_default();
        (unquoted(key) == "version").then(|| unquoted(value).to_owned())
    })
}

/// What is behind comments and spaces at the start.
fn without_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let behind = match (text.strip_prefix("//"), text.strip_prefix("/*"), text.strip_prefix('#')) {
            (Some(rest), _, _) | (_, _, Some(rest)) => rest.split_once('\n').map(|(_, behind)| behind),
            (_, Some(rest), _) => rest.split_once("*/").map(|(_, behind)| behind),
            (None, None, None) => return text,
        };
        let Some(behind) = behind else { return "" };
        text = behind;
    }
}

/// The letters of a JSON, JSON5 or flow text that are neither in strings nor in comments, with how many braces and
/// brackets are open; an opening brace counts itself.
struct Scan<'t> {
    letters: std::iter::Peekable<std::str::CharIndices<'t>>,
    depth: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Scan<'t> {
        Scan { letters: text.char_indices().peekable(), depth: 0 }
    }

    fn skip_string(&mut self, quote: char) {
        while let Some((_, letter)) = self.letters.next() {
            match letter {
                '\\' => {
                    self.letters.next();
                }
                letter if letter == quote => return,
                _ => {}
            }
        }
    }

    fn skip_line(&mut self) {
        while self.letters.next_if(|(_, letter)| *letter != '\n').is_some() {}
    }

    fn skip_block(&mut self) {
        let mut last = ' ';
        for (_, letter) in self.letters.by_ref() {
            if (last, letter) == ('*', '/') {
                return;
            }
            last = letter;
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = (usize, usize, char);

    fn next(&mut self) -> Option<(usize, usize, char)> {
        loop {
            let (place, letter) = self.letters.next()?;
            match letter {
                '"' | '\'' => self.skip_string(letter),
                '#' => self.skip_line(),
                '/' if self.letters.next_if(|(_, next)| *next == '/').is_some() => self.skip_line(),
                '/' if self.letters.next_if(|(_, next)| *next == '*').is_some() => self.skip_block(),
                '{' | '[' => {
                    self.depth += 1;
                    return Some((place, self.depth, letter));
                }
                '}' | ']' => self.depth = self.depth.saturating_sub(1),
                _ => return Some((place, self.depth, letter)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expected: &str) {
        let migrated = migrate(name, text, 1).unwrap();
        assert_eq!(migrated.text, expected, "{name}: {text:?}");
        let again = migrate(name, &migrated.text, 1).unwrap();
        assert_eq!(
            (again.from, again.text.as_str(), again.steps.len()),
            (1, expected, 0),
            "{name}: {text:?}"
        );
    }

    #[test]
    fn a_file_from_before_versions_gets_one_and_keeps_the_rest() {
        check("a.yaml", "# mine\n---\nscope: {}\n", "# mine\n---\nversion: 1\nscope: {}\n");
        check("a.yml", "", "version: 1\n");
        check("a.yaml", "# only words", "# only words\nversion: 1\n");
        check("a.yaml", "tools:\n  version: 7\n", "version: 1\ntools:\n  version: 7\n");
        check("a.toml", "[scope]\nversion = 7\n", "version = 1\n[scope]\nversion = 7\n");
        check(
            "config.json",
            "{\"scope\": {\"version\": 7}}",
            "{\n  \"version\": 1,\"scope\": {\"version\": 7}}",
        );
        check("config.json", "{}", "{\n  \"version\": 1}");
        check(
            "c.json5",
            "// { no\n{ a: ['version: 3', \"}\"] }",
            "// { no\n{\n  \"version\": 1, a: ['version: 3', \"}\"] }",
        );
        check("c.yaml", "{a: 1}\n", "{\n  \"version\": 1,a: 1}\n");
    }

    #[test]
    fn a_file_that_has_the_version_stays_as_it_is() {
        check("a.yaml", "profile: x\nversion: 1 # now\n", "profile: x\nversion: 1 # now\n");
        check("a.toml", "a = 1\nversion = \"1\"\n[b]\n", "a = 1\nversion = \"1\"\n[b]\n");
        check("c.json", "{\"a\": 1, \"version\": 1}", "{\"a\": 1, \"version\": 1}");
        check("c.json5", "{a: 1, /* , */ version: 1, // x\n}", "{a: 1, /* , */ version: 1, // x\n}");
    }

    #[test]
    fn each_refusal_says_which_it_was() {
        let problem = |name: &str, text: &str, target| migrate(name, text, target).unwrap_err();
        assert_eq!(problem("a.yaml", "version: 1\n", 0), MigrationProblem::Downgrade { from: 1, target: 0 });
        assert_eq!(problem("a.yaml", "", 2), MigrationProblem::UnknownTarget { target: 2, newest: 1 });
        assert_eq!(
            problem("a.yaml", "version: 9\n", 9),
            MigrationProblem::UnknownVersion { said: "9".to_owned() }
        );
        assert_eq!(problem("a.ini", "", 1), MigrationProblem::UnknownForm);
        assert_eq!(problem("a.json", "[]", 1), MigrationProblem::NotUnderstood);
    }
}
