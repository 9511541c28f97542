//! The rules of one program, read from the text of `rules/*.rules` (its README gives the format). Knows nothing of
//! what the rules are used for.

use std::collections::HashMap;

/// What a value or an operand is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Read,
    Folder,
    /// A path of which only the presence or the size is asked.
    Exists,
    /// A folder whose file system is asked how full it is.
    Disk,
    Write,
    Sed,
    Awk,
    Jq,
    Yq,
    Pattern,
    Format,
    GitFormat,
    GitLines,
    Plain,
    Revision,
    Pathspec,
    /// The address of a host that is listed for the program; no signs that curl multiplies addresses by.
    Url,
    /// The same, taken as it stands.
    ExactUrl,
    /// As `Url`, and the program writes a file that is called like the end of it.
    SavedUrl,
    /// The same, where its end has to be a name: curl has none of its own.
    NamedUrl,
    Header,
    /// Text in one line.
    Line,
    /// Text, or `@FILE`.
    Data,
    /// `NAME=TEXT` or `NAME@FILE`.
    EncodedData,
    /// A file that is read and whose name has no signs that curl multiplies names by.
    Upload,
    CurlFormat,
    /// A remote of git by its name, or the address of a listed host.
    Remote,
    /// A branch or tag on the other side, and nothing that it is to become here.
    RemoteRef,
    OneOf(Vec<String>),
    None,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Flag,
    /// One value, or several that are words of their own.
    Value(Vec<Kind>),
    /// The value is the next word, never attached.
    Separate(Kind),
    Optional(Kind),
    Refused(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Once,
    Maybe,
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) kind: Kind,
    pub(crate) times: Times,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Options,
    /// Starting folders, then an expression of listed words.
    Find,
    /// Operands that begin with `+` are formats.
    Plus,
    /// Operands are `name=value`, and the options' lines name them (`if=`).
    Named,
}

#[derive(Debug, Clone)]
pub(crate) struct Example {
    pub(crate) allowed: bool,
    pub(crate) line: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// `git log`: program and subcommands.
    pub(crate) name: String,
    /// As decisions show it.
    pub(crate) rule: String,
    pub(crate) about: String,
    pub(crate) options: HashMap<String, Choice>,
    pub(crate) words: Vec<String>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) operands_with: Vec<(Vec<String>, Vec<Operand>)>,
    pub(crate) style: Style,
    pub(crate) numbers: bool,
    pub(crate) subcommands: bool,
    pub(crate) bare: bool,
    /// The program reads no options behind its first operand, so neither may we.
    pub(crate) options_first: bool,
    /// Every word is an operand, dashes or not.
    pub(crate) no_options: bool,
    /// The program replaces a word `@FILE` by the options in that file, wherever it stands.
    pub(crate) at_files: bool,
    /// `operands-with` counts only if the first word is an option: another first word would be options without a dash.
    pub(crate) option_leads: bool,
    /// Not to be had without a host that is listed for the program.
    pub(crate) networked: bool,
    /// One of these must be given.
    pub(crate) require: Vec<String>,
    /// Options of `find` that stand before the folders.
    pub(crate) leading: Vec<String>,
    pub(crate) examples: Vec<Example>,
}

impl Block {
    pub(crate) fn new(name: &str) -> Block {
        let program = name.split(' ').next().unwrap_or_default();
        Block {
            name: name.to_owned(),
            rule: format!("command_policy.argument_rules:{program}"),
            about: String::new(),
            options: HashMap::new(),
            words: Vec::new(),
            operands: Vec::new(),
            operands_with: Vec::new(),
            style: Style::Options,
            numbers: false,
            subcommands: false,
            bare: false,
            options_first: false,
            no_options: false,
            at_files: false,
            option_leads: false,
            networked: false,
            require: Vec::new(),
            leading: Vec::new(),
            examples: Vec::new(),
        }
    }

    pub(crate) fn program(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    /// One line of the block. `known` finds the blocks before it, for `like`.
    pub(crate) fn line<'k>(
        &mut self,
        key: &str,
        rest: &str,
        known: impl Fn(&str) -> Option<&'k Block>,
    ) -> Result<(), String> {
        match key {
            "about" => rest.clone_into(&mut self.about),
            "like" => {
                let other = known(rest).ok_or_else(|| format!("no block `{rest}` stands before it"))?;
                let own = Block::new(&self.name);
                *self = Block { name: own.name, rule: own.rule, examples: Vec::new(), ..other.clone() };
            }
            "flags" => self.add_options(rest, &Choice::Flag)?,
            "value" => {
                let (kinds, names) = rest.split_once(' ').ok_or("a kind and options are needed")?;
                let kinds = kinds.split('+').map(kind_of).collect::<Result<_, _>>()?;
                self.add_options(names, &Choice::Value(kinds))?;
            }
            "separate" => self.add_options_of_kind(rest, Choice::Separate)?,
            "optional" => self.add_options_of_kind(rest, Choice::Optional)?,
            "refuse" => {
                let (names, why) = rest.split_once(" : ").ok_or("`refuse` needs ` : ` and the reason")?;
                self.add_options(names, &Choice::Refused(why.trim().to_owned()))?;
            }
            "words" => self.words = names(rest),
            "require" => self.require = names(rest),
            "leading" => {
                self.add_options(rest, &Choice::Flag)?;
                self.leading = names(rest);
            }
            "operands" => self.operands = operands(rest)?,
            "operands-with" => {
                let (options, kinds) =
                    rest.split_once(" :").ok_or("`operands-with` needs ` : ` and kinds")?;
                self.operands_with.push((names(options), operands(kinds)?));
            }
            "style" => self.style = style(rest)?,
            "numbers" => self.numbers = true,
            "subcommands" => self.subcommands = true,
            "bare" => self.bare = true,
            "options-first" => self.options_first = true,
            "no-options" => self.no_options = true,
            "at-files" => self.at_files = true,
            "option-leads" => self.option_leads = true,
            "networked" => self.networked = true,
            "allow" => self.examples.push(Example { allowed: true, line: rest.to_owned() }),
            "deny" => self.examples.push(Example { allowed: false, line: rest.to_owned() }),
            other => return Err(format!("no line begins with `{other}`")),
        }
        // awk takes everything behind its program text for files and variables.
        self.options_first |= self.operands.iter().any(|operand| operand.kind == Kind::Awk);
        Ok(())
    }

    fn add_options_of_kind(&mut self, rest: &str, choice: impl Fn(Kind) -> Choice) -> Result<(), String> {
        let (kind, names) = rest.split_once(' ').ok_or("a kind and options are needed")?;
        self.add_options(names, &choice(kind_of(kind)?))
    }

    /// A later line counts for more, so that a block can be `like` another and still differ.
    fn add_options(&mut self, names: &str, choice: &Choice) -> Result<(), String> {
        for name in names.split_whitespace() {
            let plain = match self.style {
                Style::Options | Style::Plus => name.starts_with('-') && name != "-" && name != "--",
                Style::Find | Style::Named => true,
            };
            if !plain || name.contains("--=") {
                return Err(format!("`{name}` is no option"));
            }
            self.options.insert(name.to_owned(), choice.clone());
        }
        Ok(())
    }
}

fn names(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn style(text: &str) -> Result<Style, String> {
    match text {
        "find" => Ok(Style::Find),
        "plus" | "date" => Ok(Style::Plus),
        "dd" => Ok(Style::Named),
        other => Err(format!("no style `{other}`")),
    }
}

fn operands(text: &str) -> Result<Vec<Operand>, String> {
    let operand = |word: &str| -> Result<Operand, String> {
        let (kind, times) = match (word.strip_suffix('*'), word.strip_suffix('?')) {
            (Some(kind), _) => (kind, Times::Any),
            (None, Some(kind)) => (kind, Times::Maybe),
            (None, None) => (word, Times::Once),
        };
        Ok(Operand { kind: kind_of(kind)?, times })
    };
    let all: Vec<Operand> = text.split_whitespace().map(operand).collect::<Result<_, _>>()?;
    if all.iter().filter(|operand| operand.times == Times::Any).count() > 1 {
        return Err("only one kind may repeat".to_owned());
    }
    Ok(all)
}

fn kind_of(word: &str) -> Result<Kind, String> {
    Ok(match word {
        "text" => Kind::Text,
        "number" => Kind::Number,
        "read" => Kind::Read,
        "folder" => Kind::Folder,
        "exists" => Kind::Exists,
        "disk" => Kind::Disk,
        "write" => Kind::Write,
        "sed" => Kind::Sed,
        "awk" => Kind::Awk,
        "jq" => Kind::Jq,
        "yq" => Kind::Yq,
        "pattern" => Kind::Pattern,
        "format" => Kind::Format,
        "git-format" => Kind::GitFormat,
        "git-lines" => Kind::GitLines,
        "plain" => Kind::Plain,
        "revision" => Kind::Revision,
        "pathspec" => Kind::Pathspec,
        "url" => Kind::Url,
        "exact-url" => Kind::ExactUrl,
        "saved-url" => Kind::SavedUrl,
        "named-url" => Kind::NamedUrl,
        "header" => Kind::Header,
        "line" => Kind::Line,
        "data" => Kind::Data,
        "encoded-data" => Kind::EncodedData,
        "upload" => Kind::Upload,
        "curl-format" => Kind::CurlFormat,
        "remote" => Kind::Remote,
        "remote-ref" => Kind::RemoteRef,
        "none" => Kind::None,
        other => match other.strip_prefix("one-of:") {
            Some(list) if !list.is_empty() => Kind::OneOf(list.split(',').map(str::to_owned).collect()),
            Some(_) | None => return Err(format!("no kind `{other}`")),
        },
    })
}

impl Operand {
    /// Which operand the word at `place` of `n_words` is. Kinds behind the repeated one count from the end.
    pub(crate) fn at(all: &[Operand], place: usize, n_words: usize) -> Option<&Operand> {
        let Some(star) = all.iter().position(|operand| operand.times == Times::Any) else {
            return by_need(all, place, n_words);
        };
        let (front, back) = (all.get(..star)?, all.get(star + 1..)?);
        let n_back = back.len().min(n_words);
        let from_end = n_words - place;
        if from_end <= n_back {
            return back.get(back.len() - from_end);
        }
        let n_front = n_words - n_back;
        // With words enough for all, those in front are taken one by one.
        by_need(front, place, n_front).or_else(|| all.get(star))
    }
}

/// Optional kinds are left out, the last first, when there are too few words.
fn by_need(all: &[Operand], place: usize, n_words: usize) -> Option<&Operand> {
    let n_needed = all.iter().filter(|operand| operand.times == Times::Once).count();
    let mut n_spare = n_words.saturating_sub(n_needed);
    let present = all.iter().filter(|operand| match operand.times {
        Times::Once | Times::Any => true,
        Times::Maybe => {
            let taken = n_spare > 0;
            n_spare = n_spare.saturating_sub(1);
            taken
        }
    });
    present.into_iter().nth(place)
}
